# SPDX-License-Identifier: MIT
# Sets, deletes and lists of a redis server at a socket, and its end: the same ones each time.
import socket
import sys
import time

server = socket.socket(socket.AF_UNIX)
while server.connect_ex(sys.argv[1]) != 0:
    time.sleep(0.02)
answers = server.makefile("rb")
seed = 7


def draw(n):
    global seed
    seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
    return (seed >> 8) % n


def send(commands):
    text = b""
    for command in commands:
        text += b"*%d\r\n" % len(command) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in command)
    server.sendall(text)
    for _ in commands:
        answers.readline()


for i in range(600):
    send([(b"SET", b"key:%d" % draw(20000), b"v" * (16 + draw(draw(2000) + 1))) for _ in range(100)])
    send([(b"HSET", b"hash:%d" % draw(300), b"field:%d" % draw(1000), b"w" * draw(60)) for _ in range(20)])
    send([(b"LPUSH", b"list:%d" % draw(100), b"x" * draw(100)) for _ in range(20)])
    send([(b"DEL", b"key:%d" % draw(20000)) for _ in range(20)])
server.sendall(b"*2\r\n$8\r\nSHUTDOWN\r\n$6\r\nNOSAVE\r\n")
server.recv(1)

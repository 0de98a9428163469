# SPDX-License-Identifier: MIT
"""What tools/look/example.svg shows: threads parse modules of python, another one drops a third
of the trees.  By hand, with a python that finds its own sources:

    PYTHONMALLOC=malloc LD_PRELOAD=build/libashlar_malloc.so python3 tools/look/example.py
    build/ashlar-look --svg PID >tools/look/example.svg
"""
import ast
import glob
import os
import threading
import time

sources = sorted(glob.glob(os.path.dirname(os.__file__) + "/[a-h]*.py"), key=os.path.getsize)[-45:]
trees = {}
done = threading.Event()


def parse(first):
    for path in sources[first::3]:
        with open(path, "rb") as file:
            trees[path] = ast.parse(file.read())
    done.wait()


threads = [threading.Thread(target=parse, args=(i,), daemon=True) for i in range(3)]
for thread in threads:
    thread.start()
while len(trees) < len(sources):
    time.sleep(0.1)
cache = bytearray(5 << 20)
for number, path in enumerate(sources):
    if number % 3 == 0:
        del trees[path]
print("look at", os.getpid(), flush=True)
time.sleep(600)

# SPDX-License-Identifier: MIT
"""A copy of the tree in which one thing is changed, built and tested."""
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time

from settings import APART, JOBS, NICE, SCRATCH, SILENCE, read

# Where a program's objects of the library are; else in lib, and those of its start in start.  malloc and
# hardened have one, of the amalgamation.
FOLDERS = {'malloc': ['malloc', 'start'], 'hardened': ['hardened', 'malloc', 'start'], 'small': ['small', 'start'], 'field': ['field', 'start'],
           'sample': ['sample', 'lib', 'start'], 'system': ['core', 'lib', 'start']}
LIBRARY = ['lib', 'start']
ALL_FOLDERS = ['lib', 'malloc', 'hardened', 'small', 'field', 'sample', 'core', 'start']
ALONE = ['store/data/global_names', 'diagnostics/heap_walk']  # objects that the amalgamation has not, or twice
AMALGAMATED = ['build/malloc/ashlar_malloc.o', 'build/hardened/ashlar_malloc.o']


def put(folder, file, content):
    to = os.path.join(folder, file)
    os.makedirs(os.path.dirname(to), exist_ok=True)
    if not os.path.exists(to) or read(to, 'rb') != content:
        with open(to, 'wb') as out:
            out.write(content)


def copy_to(folder):
    """The tree as it is, into another folder."""
    files = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split('\n')
    for file in filter(os.path.isfile, files):
        put(folder, file, read(file, 'rb'))
        shutil.copymode(file, os.path.join(folder, file))


class Tree:
    """A copy that one job changes, builds and tests."""

    def __init__(self, number):
        self.folder = f'{SCRATCH}.{number}'
        copy_to(self.folder)
        make = NICE + ' make DEBUG=-g0 '
        if self.sh(make + f'-s -j{JOBS} programs >/dev/null') != 0:
            sys.exit(f'{self.folder} does not build as it is')
        self.learn(subprocess.run(make + '-n -B V=1 programs', shell=True, cwd=self.folder, check=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout)
        # Thin archives name their members: one whose member is made anew stays right.
        for library, members in self.archive.items():
            if not any(o in self.whole for o in members):
                self.sh(f'rm -f {library}; ar qcsT {library} {" ".join(members)}')
        self.stale = set()  # what was made of changed things
        self.linked = set()  # programs that have them
        self.kept = {}  # object -> its content, unchanged
        self.as_one = None  # the library as one object, unchanged
        self.differing = set()  # those that are not as before

    def sh(self, command):
        return subprocess.run(command, shell=True, cwd=self.folder, stdin=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode

    def learn(self, commands):
        """From what make would do: how each file is made, and of what."""
        self.compile, self.link, self.archive, self.needs, self.whole = {}, {}, {}, {}, {}
        for line in commands.replace('\\\n', ' ').split('\n'):
            if m := re.search(r' -c (\S+) -o (\S+\.o)$', line):
                self.compile[m.group(2)] = re.sub(r' -MMD -MP', '', line)
            elif m := re.search(r' (build/whole/\w+\.o)\.new', line):  # linked, stripped of names, removed
                self.whole[m.group(1)] = self.whole.get(m.group(1), []) + [line]
            elif m := re.match(r'ar qcsD? (\S+) (.*)', line):
                self.archive[m.group(1)] = m.group(2).split()
            elif m := re.search(r' -o (build/tests/\S+)', line):
                self.link[m.group(1)[len('build/tests/'):]] = line
        for made in self.compile:
            text = read(os.path.join(self.folder, made[:-2] + '.d')).replace('\\\n', ' ')
            for need in text.split('\n', 1)[0].split(':', 1)[1].split():
                self.needs.setdefault(os.path.normpath(need), []).append(made)
        for made in AMALGAMATED:
            self.compile[made] = 'sh tools/amalgamate build/amalgamation && ' + self.compile[made]
        for file in re.findall(r'^#line 1 "(.*)"$', read(os.path.join(self.folder, 'build/amalgamation/ashlar.c')),
                               flags=re.M):
            self.needs.setdefault(os.path.normpath(file), []).extend(AMALGAMATED)

    def made_for(self, path, program):
        """The objects in a program that depend on a source."""
        return [made for folder in FOLDERS.get(program, LIBRARY) for made in self.made_of(path, folder)]

    def made_of(self, path, folder):
        """The objects in build/FOLDER that depend on a source."""
        copy = 'build/include/' + os.path.basename(path)
        return [made for made in dict.fromkeys(self.needs.get(path, []) + self.needs.get(copy, []))
                if made.startswith(f'build/{folder}/')]

    def change(self, mutant, back):
        lines = read(mutant.path).split('\n')
        if not back:
            lines[mutant.number] = mutant.line
        for to in (mutant.path, 'build/include/' + os.path.basename(mutant.path)):
            if to == mutant.path or os.path.exists(os.path.join(self.folder, to)):
                put(self.folder, to, '\n'.join(lines).encode())

    def recompile(self, objects):
        """None: it does not compile.  Else whether any differs from what it was."""
        differs = False
        for made in objects:
            if made in self.stale:
                continue
            name = os.path.join(self.folder, made)
            self.kept.setdefault(made, read(name, 'rb'))
            self.stale.add(made)
            # || in a row of && is a mutant like others.
            if self.sh(NICE + ' ' + self.compile[made] + ' -Wno-parentheses') != 0:
                return None
            if read(name, 'rb') != self.kept[made]:
                self.differing.add(made)
                differs = True
        return differs

    def restore(self, mutant):
        self.change(mutant, True)
        for made in self.stale:
            if made in self.kept:
                with open(os.path.join(self.folder, made), 'wb') as out:
                    out.write(self.kept[made])
        self.kept.clear()
        self.stale, self.linked, self.differing = set(), set(), set()

    def one(self):
        """build/tests/all with the library as one object, of the amalgamation with all names left visible: what
        a header is in is compiled once.  The tests' own objects keep the header as it was."""
        folder = os.path.join(self.folder, 'build/one')
        if self.sh('sh tools/amalgamate build/one && sed -e "s/^#define ASHLAR_AMALGAMATION$//" '
                   '-e "s/^#ifdef ASHLAR_AMALGAMATION .* of the hardened products .*/#if 1/" '  # system calls
                   'build/one/ashlar.c >build/one/visible.c') != 0:
            return None
        text = read(os.path.join(folder, 'visible.c'))
        start = text.index('#line 1 "core/diagnostics/heap_walk.c"')  # replaces a weak function of another file
        text = text[:start] + text[text.index('\n#line ', start) + 1:]
        with open(os.path.join(folder, 'visible.c'), 'w', encoding='utf-8') as out:
            out.write(text)
        flags = re.sub(r' -W\S+| -c .*', '', self.compile['build/lib/core/front/alloc.o'])
        if self.sh(f'{NICE} {flags} -w -O1 -c build/one/visible.c -o build/one/ashlar.o') != 0:
            return None
        objects = ' '.join(['build/one/ashlar.o'] + [f'build/lib/core/{o}.o' for o in ALONE])
        if self.sh(NICE + ' ' + self.link['all'].replace(' build/parts.a', ' ' + objects)) != 0:
            return None
        return read(os.path.join(folder, 'ashlar.o'), 'rb')

    def relink(self, program):
        """False: it does not link, as a function is not there any more."""
        if program in self.linked:
            return True
        self.linked.add(program)
        line = self.link[program]
        for library in re.findall(r'build/\S+\.a', line):
            commands = [c for o in self.archive.get(library, []) for c in self.whole.get(o, [])]
            for command in commands:
                self.sh(command)
            if commands:
                self.sh(f'rm -f {library}; ar qcs {library} {" ".join(self.archive[library])}')
        return self.sh(NICE + ' ' + line) == 0

    def fails(self, program, names, milliseconds):
        """The first of these tests that fails, and how; None."""
        words = program.split()
        cpu = 2 + 6 * milliseconds // 1000
        command = (f'echo 1000 >/proc/self/oom_score_adj; ulimit -c 0; ulimit -t {cpu}; '
                   f'{NICE} env {" ".join(words[:-1])} build/tests/{words[-1]} '
                   + ' '.join(map(shlex.quote, names)) + '; exit $?')
        done, text, last = set(), b'', time.monotonic()
        with subprocess.Popen(APART + [command], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            try:
                while True:
                    silence = SILENCE + 10 * milliseconds / 1000
                    ready = select.select([process.stdout], [], [], 1)[0]
                    if not ready:
                        if time.monotonic() - last > silence:
                            at = [name for name in names if name not in done]
                            return (at[0] if at else names[-1]), ' (no end)'
                        continue
                    piece = os.read(process.stdout.fileno(), 65536)
                    if not piece:
                        break
                    last, text = time.monotonic(), text + piece
                    lines = text.split(b'\n')
                    text = lines.pop()
                    for line in map(lambda b: b.decode('utf-8', 'replace'), lines):
                        if m := re.match(r'(ok  |skip) (\w+)', line):
                            done.add(m.group(2))
                        elif m := re.match(r'FAIL (\w+)(.*)', line):
                            end = 'timeout' in m.group(2) or f'signal {signal.SIGXCPU.value}' in m.group(2)
                            return m.group(1), ' (no end)' if end else ''
                status = process.wait()
                return (f'exit status {status}', '') if status != 0 else None
            finally:
                process.kill()

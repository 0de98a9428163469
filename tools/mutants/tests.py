# SPDX-License-Identifier: MIT
"""The map's rows, and what each test program tests."""
import os
import re
import subprocess
import threading

from settings import APART, HERE, NICE, RESULTS, read

lock = threading.Lock()


def table():
    """The map's rows: pattern, slow, milliseconds, program, filters."""
    rows = []
    for line in read(os.path.join(HERE, 'map')).split('\n'):
        if line.strip() and line[0] != '#':
            pattern, limit, command = line.split('\t')
            words = command.split()
            at = next(i for i, word in enumerate(words) if '=' not in word)
            rows.append((pattern.lstrip('~'), pattern.count('~'), int(limit),
                         ' '.join(words[:at + 1]), words[at + 1:]))
    return rows


class Tests:
    """What each program tests, and how long each test takes unchanged."""

    def __init__(self, folder):
        self.folder, self.times = folder, {}

    def of(self, program):
        """name -> milliseconds, in the program's order."""
        with lock:
            if program not in self.times:
                self.times[program] = self.measured(program)
            return self.times[program]

    def measured(self, program):
        stored = os.path.join(RESULTS, 'baseline ' + program)
        if not os.path.exists(stored):
            print(f'     {program}, unchanged', flush=True)
            *words, name = program.split()
            # Alone, as of tests that are others' too some do not hold there (tools/test).
            alone = words or name == 'hardened'
            filters = [f for row in table() if row[3] == program for f in row[4]] if alone else []
            text = subprocess.run(APART + [f'{NICE} env {" ".join(words)} build/tests/{name} '
                                           + ' '.join(filters) + '; exit $?'], cwd=self.folder, stdin=subprocess.DEVNULL, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            with open(stored, 'wb') as file:
                file.write(text)
        # Of the CPU: by the clock a test takes longer where others compute.
        found = re.findall(r'^ok +(\S+) \((?:\d+ ms, )?(\d+) ms', read(stored), flags=re.M)
        return {name: int(time) for name, time in found}

    def wanted(self, program, filters, limit):
        """As tests/runtime/test.c chooses."""
        plus = [f for f in filters if f[0] != '-']
        minus = [f[1:] for f in filters if f[0] == '-']
        return [name for name, time in self.of(program).items() if time <= limit
                and (not plus or any(f in name for f in plus)) and not any(f in name for f in minus)]

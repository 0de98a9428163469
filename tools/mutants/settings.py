# SPDX-License-Identifier: MIT
"""What the environment says (see run), and the few things that all files here share."""
import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(os.environ.get('BUILD') or 'build', 'mutants')
SCRATCH = os.environ.get('SCRATCH') or '/tmp/ashlar-mutants'
JOBS = int(os.environ.get('JOBS') or 2)
SLOW = int(os.environ.get('SLOW') or 0)
KINDS = (os.environ.get('KINDS') or 'operator constant statement order').split()
AGAIN = (os.environ.get('AGAIN') or '').split()
ONLY = (os.environ.get('ONLY') or '').split()
FRESH = bool(os.environ.get('FRESH'))
TSAN = int(os.environ.get('TSAN') or 0)
LIMIT = int(os.environ.get('LIMIT') or 300)
ONE = bool(os.environ.get('ONE'))
NICE = 'nice -n ' + (os.environ.get('NICE') or '19')
SILENCE = int(os.environ.get('SILENCE') or 10)  # seconds without a line from a short test: it does not end
APART = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '-pf', '--mount-proc', '--kill-child', 'sh', '-c']


def part(name):
    """(k, n) of k/n, from 0."""
    k, n = map(int, (os.environ.get(name) or '1/1').split('/'))
    if not 1 <= k <= n:
        sys.exit(f'{name}={k}/{n}')
    return k - 1, n


SAMPLE, SHARD = part('SAMPLE'), part('SHARD')


def read(name, mode='r'):
    with open(name, mode, **({} if 'b' in mode else {'encoding': 'utf-8'})) as file:
        return file.read()


def sources():
    return sorted(glob.glob('sys/**/*.[ch]', recursive=True) + glob.glob('core/**/*.[ch]', recursive=True))

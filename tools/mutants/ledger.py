# SPDX-License-Identifier: MIT
"""Which mutants were run, and how they ended.

build/mutants/FILE.txt has a line for each of the runs on this machine.  tools/mutants/done has of all runs the
first digits of the names, a line for each base name; a mutant whose line of code changed is another one.
"""
import os

from mutate import mutants
from settings import AGAIN, HERE, ONLY, RESULTS, SLOW, read, sources

DONE = os.path.join(HERE, 'done')
SURVIVORS = os.path.join(HERE, 'survivors.tsv')
SHORT = 4  # digits: of a file's 200 mutants one in 300 is taken for another one


def results(path):
    return os.path.join(RESULTS, os.path.basename(path) + '.txt')


def done_before(path):
    """name -> the line, of an earlier run; which are to be had again."""
    rows, again = {}, set()
    if os.path.exists(results(path)):
        for line in read(results(path)).split('\n'):
            if line:
                rows[line.split('\t')[0]] = line
    for name in [n for n, row in ((n, line.split('\t')) for n, line in rows.items())
                 if row[1] in AGAIN and (not ONLY or n in ONLY)]:
        del rows[name]
        again.add(name)
    return rows, again


def record(path, mutant, verdict, by, took):
    line = '\t'.join((mutant.name, verdict, f'{os.path.basename(path)}:{mutant.number + 1}',
                      mutant.function, mutant.kind, mutant.said, by, f'{took:.1f}', str(SLOW)))
    with open(results(path), 'a', encoding='utf-8') as file:
        file.write(line + '\n')
    if verdict == 'survived':
        print(f'     {mutant.name} {os.path.basename(path)}:{mutant.number + 1} {mutant.function}: '
              f'{mutant.said}', flush=True)
    return line


def ran_before(path):
    """The first digits of the names, of all earlier runs."""
    return done().get(os.path.basename(path), set())


def done():
    lines = read(DONE).split('\n') if os.path.exists(DONE) else []
    return {words[0]: set(words[1:]) for words in map(str.split, lines) if words and words[0] != '#'}


def current():
    """base name -> the names of its mutants today; files of one name in two folders are one here."""
    names = {}
    for path in sources():
        names.setdefault(os.path.basename(path), {}).update((m.name, path) for m in mutants(path))
    return names


def listed():
    """name -> its row of survivors.tsv."""
    return {row.split('\t')[0]: row for row in read(SURVIVORS).split('\n') if row and row[0] != '#'}


def keep():
    """Adds what build/mutants has to tools/mutants/done, but survivors without a row, which are to be run again;
    takes out what no source has any more."""
    old, rows, lines = done(), listed(), []
    for base, names in sorted(current().items()):
        ran = [line.split('\t') for line in read(results(base)).split('\n')] if os.path.exists(results(base)) else []
        ran = {row[0][:SHORT] for row in ran if row[1:2] != ['survived'] or row[0] in rows}
        ran = (ran | old.get(base, set())) & {name[:SHORT] for name in names}
        if ran:
            lines.append(' '.join([base] + sorted(ran)))
    with open(DONE, 'w', encoding='utf-8') as file:
        file.write('# The mutants that were run, by the first digits of their names: see ledger.py, and run --keep\n'
                   + '\n'.join(lines) + '\n')


def count():
    """How much was run, by room, and how many survivors have each verdict."""
    old, rooms, kinds = done(), {}, {}
    for base, names in current().items():
        for name, path in names.items():
            room = rooms.setdefault('sys' if path.startswith('sys') else '/'.join(path.split('/')[:2]), [0, 0])
            room[0] += name[:SHORT] in old.get(base, ())
            room[1] += 1
    for room, (ran, n) in sorted(rooms.items()) + [('all', tuple(map(sum, zip(*rooms.values()))))]:
        print(f'     {room}: {ran} of {n} mutants were run')
    for row in listed().values():
        verdict = row.split('\t')[3]
        kinds[verdict] = kinds.get(verdict, 0) + 1
    print('     survivors.tsv:', ', '.join(f'{n} {verdict}' for verdict, n in kinds.items()))

# SPDX-License-Identifier: MIT
"""What the tests say of a mutant."""
import fnmatch
import os
import threading
import time

from ledger import SHORT, done_before, ran_before, record
from mutate import mutants
from reach import reached
from settings import AGAIN, APART, FRESH, JOBS, KINDS, LIMIT, ONE, ONLY, RESULTS, SAMPLE, SCRATCH, SHARD, SLOW
from tests import Tests, lock, table
from tree import ALL_FOLDERS, Tree, copy_to


OTHERS = {'malloc': 'IS_MALLOC', 'hardened': 'IS_HARDENED'}  # what a line has that is for that program


class Run:
    def __init__(self):
        self.trees = [Tree(i) for i in range(JOBS)]
        self.tests, self.map, self.doubted = Tests(self.trees[0].folder), table(), {}
        instrumented, stored = SCRATCH + '.reach', os.path.join(RESULTS, 'reach')
        if not os.path.exists(stored):
            copy_to(instrumented)
        self.killers = []  # the latest first, also of other files
        self.reach = reached(instrumented, APART, stored)

    def stages(self, mutant, killers):
        """(program, names, milliseconds), the likely killers first; a test once."""
        own = self.tests.of('all')
        entering = self.reach.get(mutant.function)
        if entering is not None:
            entering = {name for name in entering if name in own}
        stages, seen, spent = {}, set(), 0
        for program, name in killers:
            time = self.tests.of(program).get(name, 0)
            if spent + time <= 400 and (program != 'all' or entering is None or name in entering):
                spent += time
                seen.add((program, name))
                stages.setdefault(program, []).append(name)
        for program, names in stages.items():
            yield program, names, max(self.tests.of(program).get(name, 0) for name in names)
        since = -1
        # What nearly each test enters is seen by short ones; rows of the map with other programs lie between.
        for until in (4, 20, 80, LIMIT) if len(entering or ()) <= 150 else (4, 20, LIMIT // 7):
            names = sorted((name for name in entering or () if since < own[name] <= until
                            and ('all', name) not in seen), key=own.get)
            seen |= {('all', name) for name in names}
            if names:
                yield 'all', names, own[names[-1]]
            if until == 20:
                yield from self.rows(mutant, seen, entering, lambda program: program != 'malloc')
            since = until
        yield from self.rows(mutant, seen, entering, lambda program: True)

    def rows(self, mutant, seen, entering, wanted):
        for pattern, slow, limit, program, filters in self.map:
            if slow <= SLOW and wanted(program) and fnmatch.fnmatch(os.path.basename(mutant.path), pattern):
                names = [name for name in self.tests.wanted(program, filters, limit) if (program, name) not in seen
                         and (program != 'all' or entering is None or name in entering)]
                seen |= {(program, name) for name in names}
                if names:
                    yield program, names, max(self.tests.of(program)[name] for name in names)

    def header(self, tree, mutant, killers):
        """Of a header: shown to the tests of build/tests/all alone."""
        if not tree.as_one:
            tree.as_one = tree.one()
        tree.change(mutant, False)
        made = tree.one()
        if made is None or made == tree.as_one:
            return ('stillborn' if made is None else 'same'), ''
        for program, names, time in self.stages(mutant, killers):
            if program != 'all':
                continue
            found = tree.fails(program, names, time)
            if found and (found[0] not in names or tree.fails(program, [found[0]], self.tests.of(program)[found[0]])):
                return 'killed', f'{program} {found[0]}{found[1]}'
        return 'survived', ''

    def verdict(self, tree, mutant, killers):
        if ONE and mutant.path.endswith('.h'):
            found = self.header(tree, mutant, killers)
            tree.linked = {'all'}
            if found[0] != 'same':
                return found  # else it may be in another library's part
        tree.change(mutant, False)
        differs = False
        # The first that differs will do: the others are compiled when their programs are wanted.
        for folder in ALL_FOLDERS + ['prog'] * ('ashlar' in mutant.path):
            result = tree.recompile(tree.made_of(mutant.path, folder))
            if result is None:
                return 'stillborn', ''
            differs |= result
            if result:
                break
        if not differs:
            return ('order' if mutant.kind == 'order' else 'same'), ''
        # Tests that use the header's functions themselves are compiled again only if the others
        # say nothing; but what they have of constants must be as in the library.
        late = mutant.path.endswith('.h') and mutant.kind != 'constant'
        for stale_tests in ((True, False) if late else (False,)):
            for number, (program, names, time) in enumerate(self.stages(mutant, killers)):
                if stale_tests and number >= 4:
                    break
                words = program.split()[-1]
                made = tree.made_for(mutant.path, words)
                if not stale_tests:
                    made += [o for o in tree.made_of(mutant.path, 'prog') if o in tree.link[words].split()]
                if SLOW == 0 and words in OTHERS and OTHERS[words] not in mutant.line and \
                        any(o.startswith('build/lib/') for o in tree.differing):
                    continue  # its tests are those of `all`, and it takes a second to compile
                if tree.recompile(made) is None:
                    return 'stillborn', ''
                if not tree.differing.intersection(made):
                    continue  # a program that has none of it
                if not tree.relink(words):
                    return 'stillborn', ''
                while names:
                    found = tree.fails(program, names, time)
                    if not found:
                        break
                    name, how = found
                    if name not in names or tree.fails(program, [name], self.tests.of(program)[name]):
                        return 'killed', f'{program} {name}{how}'
                    with lock:
                        self.doubted[name] = self.doubted.get(name, 0) + 1
                    names = names[names.index(name) + 1:]
            tree.linked = set()
        return ('order' if mutant.kind == 'order' else 'survived'), ''

    def judge(self, tree, mutant, killers):
        try:
            return self.verdict(tree, mutant, killers)
        finally:
            tree.restore(mutant)

    def file(self, path):
        rows, again, old = *done_before(path), ran_before(path)
        wanted = [m for m in mutants(path) if int(m.name[:6], 16) % SAMPLE[1] == SAMPLE[0]
                  and m.kind in KINDS]
        todo = [m for i, m in enumerate(wanted) if i % SHARD[1] == SHARD[0] and m.name not in rows
                and (FRESH or AGAIN or ONLY or m.name[:SHORT] not in old)
                and (not AGAIN or m.name in again) and (not ONLY or m.name in ONLY)]
        killers = self.killers

        def work(tree):
            while True:
                with lock:
                    if not todo:
                        return
                    mutant, likely = todo.pop(0), list(killers)
                start = time.monotonic()
                verdict, by = self.judge(tree, mutant, likely)
                took = time.monotonic() - start
                with lock:
                    rows[mutant.name] = record(path, mutant, verdict, by, took)
                    if verdict == 'killed' and not by.endswith('(no end)'):
                        words = by.rsplit(' ', 1)
                        killer = (words[0], words[1])
                        if killer in killers:
                            killers.remove(killer)
                        if words[1] in self.tests.times.get(words[0], {}):
                            killers.insert(0, killer)
                        del killers[24:]

        threads = [threading.Thread(target=work, args=(tree,)) for tree in self.trees]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [rows[m.name].split('\t') for m in wanted if m.name in rows]

# SPDX-License-Identifier: MIT
"""Which functions of the library each test of build/tests/all enters: asked once, of an instrumented copy.

The compiler sets a byte at the entry of each function.  The bytes lie in a section of whole pages, which
the runner of the tests shares with its children, clears before each test and prints after it.
"""
import os
import re
import struct
import subprocess

FLAGS = ('-fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-inline -Wno-missing-prototypes '
         '-fsanitize-coverage=func,inline-bool-flag,pc-table')
SECTIONS = """	reached : { __start_reached = .; *(__sancov_bools) . = ALIGN(4096); __stop_reached = .; } :data
	__sancov_pcs : { *(__sancov_pcs) } :data
	.tdata"""
TELL = """extern char __start_reached[], __stop_reached[];
void __sanitizer_cov_bool_flag_init(void);
void __sanitizer_cov_bool_flag_init(void) {}
void __sanitizer_cov_pcs_init(void);
void __sanitizer_cov_pcs_init(void) {}

static void tell_reached(const char *name)
{
	rt_print("reached %s", name);
	for (char *c = __start_reached; c < __stop_reached; c++)
		if (*c != 0)
			rt_print(" %lu", (unsigned long)(c - __start_reached));
	rt_print("\\n");
}

"""
# Too long to be of use here, or they stop at each instruction; new_pids: in the runner's own namespace of
# processes, where ids are dense, it forks 2000 times and fails.
LONG = '-steps_ -death_steps -traces -kills_at_random -publish_kills -new_pids'


def changed(path, pairs):
    with open(path, encoding='utf-8') as file:
        text = file.read()
    for old, new in pairs:
        if old not in text:
            raise SystemExit(f'tools/mutants/reach.py: no {old!r} in {path}')
        text = text.replace(old, new, 1)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def build(folder):
    changed(os.path.join(folder, 'linker.ld'), (
        ('	.tdata', SECTIONS), ('SIZEOF(.constructors) == 0', '1'),
        ('KEEP(*(.preinit_array* .init_array* .fini_array* .ctors* .dtors* .init .fini))',
         '*(.preinit_array* .init_array* .fini_array* .ctors* .dtors* .init .fini)')))
    changed(os.path.join(folder, 'tests/runtime/test.c'), (
        ('static void run_test(', TELL + 'static void run_test('),
        ('	long pid = rt_fork();\n', '	long pid;\n\n	for (char *c = __start_reached; c < __stop_reached; c++)\n'
         '		*c = 0;\n	pid = rt_fork();\n'),
        ('	report(test, in_time, status,', '	tell_reached(test->name);\n	report(test, in_time, status,'),
        ('	struct totals totals = {0};\n', '	struct totals totals = {0};\n\n	arch_mmap(__start_reached, '
         '(size_t)(__stop_reached - __start_reached), 3, 0x31, -1, 0);\n')))
    if subprocess.run(['make', '-s', 'DEBUG=-g0', 'PLAIN_LOOPS=' + FLAGS, 'build/tests/all'], cwd=folder,
                      stdout=subprocess.DEVNULL, check=False).returncode != 0:
        raise SystemExit(f'tools/mutants/reach.py: {folder} does not build')


def functions(folder):
    """The functions in the order of their bytes."""
    program, table = os.path.join(folder, 'build/tests/all'), os.path.join(folder, 'build/reached')
    subprocess.run(['llvm-objcopy', '-O', 'binary', '--only-section=__sancov_pcs', program, table], check=True)
    names = {}
    for line in subprocess.run(['nm', program], stdout=subprocess.PIPE, text=True, check=True).stdout.split('\n'):
        words = line.split()
        if len(words) == 3 and words[1] in 'tTwW':
            names.setdefault(int(words[0], 16), words[2])
    with open(table, 'rb') as file:
        return [names.get(pc) for pc, _ in struct.iter_unpack('<QQ', file.read())]


def reached(folder, apart, stored):
    """function -> the tests that enter it; those it has no word about enter everything."""
    if not os.path.exists(stored):
        print('     all, to see which functions each test enters', flush=True)
        build(folder)
        text = subprocess.run(apart + [f'build/tests/all {LONG}; exit $?'], cwd=folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.decode('utf-8', 'replace')
        names = functions(folder)
        with open(stored, 'w', encoding='utf-8') as file:
            for name, numbers in re.findall(r'^reached (\w+)((?: \d+)*)$', text, flags=re.M):
                file.write(' '.join([name] + [names[int(n)] or '?' for n in numbers.split()]) + '\n')
    tests = {}
    with open(stored, encoding='utf-8') as file:
        for line in file:
            test, *entered = line.split()
            for name in entered:
                tests.setdefault(name, set()).add(test)
    return tests

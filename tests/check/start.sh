#!/bin/sh
# SPDX-License-Identifier: MIT
# libashlar_start.a in programs as users build them: by each compiler and linker that is here, at
# a fixed place and position independent, of each CPU, with a start of the program's own.
. tests/support/verdict.sh

cat >"$folder/program.c" <<'C'
#include <ashlar.h>
#include <ashlar_start.h>
#include <stdint.h>
#ifdef __x86_64__
enum { CLOSE = 3, MMAP = 9, MUNMAP = 11, PWRITE = 18, TRUNCATE = 77, MEMFD = 319 };
#else
enum { CLOSE = 57, MMAP = 222, MUNMAP = 215, PWRITE = 68, TRUNCATE = 46, MEMFD = 279 };
#endif
static const char *const names[] = {"one", "two", "three"}; /* addresses: relocations */
static const char *const *volatile pointer = names;
/* More than one word of packed relocations has bits for, with places between that are none. */
#define EIGHT(n) names + n, 0, names + n, names + n, names + n, names + n, names + n, names + n
static const char *const *const many[] = {EIGHT(0), EIGHT(1), EIGHT(2), EIGHT(0), EIGHT(1), EIGHT(2), EIGHT(0), EIGHT(1),
	EIGHT(2), EIGHT(0), EIGHT(1), EIGHT(2), EIGHT(0), EIGHT(1), EIGHT(2), EIGHT(0), EIGHT(1), EIGHT(2)};
static const char *const *const *volatile table = many;
static int relocated(void)
{
	unsigned i;
	for (i = 0; i < sizeof many / sizeof *many; i++)
		if (table[i] != (i % 8 == 1 ? 0 : pointer + i / 8 % 3))
			return 0;
	return 1;
}
static int (*volatile call)(int, void *);
static unsigned long shared; /* by an atomic operation of C, which may be a call of the compiler's library */
static _Thread_local _Alignas(64) char line[70] = "thread-local";
static _Thread_local int zero[400];
static int fresh(void)
{
	return line[0] == 't' && line[11] == 'l' && line[12] == 0 && zero[399] == 0 && (uintptr_t)line % 64 == 0;
}
static void body(void *answer)
{
	int good = fresh();
	char *p = ash_alloc(100);
	line[0] = 'x';
	zero[399] = 1;
	*(char **)answer = good ? p : 0;
	if (good)
		ash_thread_end();
}
static int length(const char *s);
/* Each of the six arguments, and an error: what a file in memory is mapped with is read back. */
static int calls(void)
{
	static const char text[] = "abcdefgh";
	long fd = ash_syscall(MEMFD, (long)"calls", 0, 0, 0, 0, 0);
	const char *map;
	if (fd < 0 || ash_syscall(TRUNCATE, fd, 3 * 65536, 0, 0, 0, 0) != 0 ||
	    ash_syscall(PWRITE, fd, (long)text, 8, 65536, 0, 0) != 8)
		return 0;
	map = (const char *)ash_syscall(MMAP, 0, 65536, 1 /* PROT_READ */, 1 /* MAP_SHARED */, fd, 65536);
	return (unsigned long)map < -4095ul && map[0] == 'a' && map[7] == 'h' && map[8] == 0 && length(map) == 8 &&
	       ash_syscall(MUNMAP, (long)map, 65536, 0, 0, 0, 0) == 0 && ash_syscall(CLOSE, fd, 0, 0, 0, 0, 0) == 0 &&
	       ash_syscall(CLOSE, fd, 0, 0, 0, 0, 0) == -9; /* EBADF */
}
static int length(const char *s)
{
	int n = 0;
	while (s[n])
		n++;
	return n;
}
static int say(int n, void *text)
{
	return (int)ash_write(1, text, (size_t)n);
}
int main(int argc, char **argv, char **envp)
{
	struct ash_statistics s;
	char *block = 0;
	struct ash_thread *t;
	if (argc != 3 || argv[3] || !envp || !fresh() || !relocated() || pointer[2] != names[2] || length(pointer[2]) != 5)
		return 1;
	if (!calls())
		return 6;
	if (__atomic_fetch_add(&shared, 1, __ATOMIC_ACQ_REL) != 0)
		return 7;
	t = ash_thread_start(body, &block, 0);
	if (!t)
		return 2;
	ash_thread_join(t);
	ashlar_tls_check();
	if (!block || !fresh())
		return 3;
	ash_release(block);
	t = ash_thread_start(body, &block, 100000);
	if (!t)
		return 4;
	ash_thread_forget(t);
	ash_stats(&s);
	call = say;
	if (ash_check() != 0 || s.owners > 3 || !ash_start_getenv("WORD"))
		return 5;
	call(length(argv[2]), argv[2]);
	call(length(ash_start_getenv("WORD")), (void *)(uintptr_t)ash_start_getenv("WORD"));
	return 42;
}
C

# runs NAME COMMAND...: the program does what it should.
runs() {
	name=$1
	shift
	printed=$(env -i WORD=environment "$@" one 'argument, ' 2>"$folder/errors")
	result=$?
	[ $result = 42 ] && [ "$printed" = 'argument, environment' ]
	verdict "$name"
	[ $result = 42 ] || sed "s/^/     $result: /" "$folder/errors"
}

flags="-O2 -Wall -Wextra -Werror -ffreestanding -nostdlib -fno-stack-protector -I$build/include"
libraries="$build/libashlar_start.a $build/libashlar.a"
for compiler in clang gcc clang-19; do
	if ! command -v $compiler >/dev/null; then
		echo "skip start: by $compiler: it is not here"
		continue
	fi
	for how in '-static -fno-pie' '-static-pie -fPIE'; do
		for linker in '' -fuse-ld=lld '-fuse-ld=lld -Wl,--pack-dyn-relocs=relr'; do
			name="by $compiler $how${linker:+ $linker}"
			# shellcheck disable=SC2086 # lists of words, here and below
			if ! $compiler $flags $how $linker -Wl,--gc-sections "$folder/program.c" $libraries \
				-o "$folder/program" 2>"$folder/errors"; then
				if grep -qE 'unknown .*(option|-z)|invalid linker|cannot find .ld' "$folder/errors"; then
					echo "skip start: $name: the linker cannot"
					continue
				fi
				false
				verdict "$name: it links" "$folder/errors"
				continue
			fi
			! [ -s "$folder/errors" ]
			verdict "$name: not a warning" "$folder/errors"
			runs "$name: it runs" "$folder/program"
		done
	done
	rm -f "$folder/program"
	# shellcheck disable=SC2086
	$compiler $flags -static "$folder/program.c" $libraries -o "$folder/program"
	runs "by $compiler, all sections kept" "$folder/program"
done
# What is loaded at an address of chance has relocations, and was not all zero before.
# shellcheck disable=SC2086
clang $flags -static-pie -fPIE -fuse-ld=lld "$folder/program.c" $libraries -o "$folder/program" &&
	readelf -hW "$folder/program" | grep -q 'Type: *DYN' && readelf -rW "$folder/program" | grep -q RELATIVE
verdict 'a position independent program has relocations'

for cpu in aarch64 riscv64; do
	there=$build/$cpu
	if [ ! -f "$there/libashlar_start.a" ] || [ ! -f "$there/libashlar.a" ] || ! command -v qemu-$cpu >/dev/null; then
		echo "skip start: of $cpu: no $there/libashlar_start.a, no libashlar.a beside it, or no qemu-$cpu"
		continue
	fi
	# The program has an atomic operation of C: the flags that ashlar_start.h names for the CPU.
	case $cpu in aarch64) own=-mno-outline-atomics ;; *) own='-march=rv64gc -mabi=lp64d -mno-relax' ;; esac
	for how in '-static -fno-pie' '-static-pie -fPIE'; do
		# shellcheck disable=SC2086
		clang --target=$cpu-linux-gnu $own -O2 -ffreestanding -nostdlib -fno-stack-protector \
			-I"$there/include" $how -fuse-ld=lld -Wl,--gc-sections "$folder/program.c" \
			"$there/libashlar_start.a" "$there/libashlar.a" -o "$folder/program" 2>"$folder/errors"
		verdict "of $cpu, $how: it links" "$folder/errors" || continue
		runs "of $cpu, $how" qemu-$cpu "$folder/program"
	done
done

# ---- a start of the program's own ----

cat >"$folder/own.c" <<'C'
#include <ashlar.h>
#include <ashlar_start.h>
static _Alignas(64) __attribute__((unused)) char memory[1000];
static _Thread_local int word = 5;
__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall own\nud2");
void own(long *stack);
static void body(void *answer)
{
	*(int *)answer = word;
	ash_release(ash_alloc(10));
}
void own(long *stack)
{
	static int answer;
	struct ash_thread *t;
#ifdef CHECKED
	ashlar_tls_check();
#endif
#ifndef BARE
	if (ashlar_tls_size() > sizeof memory || ashlar_tls_use(ashlar_tls_init(memory)) != 0)
		ash_exit(1);
	ashlar_tls_check();
	if (word != 5 || ash_start_arguments()->argv || ash_start_getenv("PATH") || ash_start_auxv(6))
		ash_exit(2);
	word = 6;
#endif
	char *p = ash_alloc((unsigned long)stack[0]);
	t = ash_thread_start(body, &answer, 0);
	ash_thread_join(t);
	ash_exit(p && answer == 5 ? 42 : 3);
}
C
# own FLAG...: its exit status
own() {
	# shellcheck disable=SC2086
	clang $flags -static -fuse-ld=lld "$@" "$folder/own.c" $libraries -o "$folder/own" || return
	# The shell adds how it ended.
	sh -c 'ulimit -c 0; "$1" 2>"$2"; exit $?' sh "$folder/own" "$folder/said" 2>/dev/null
}
own -DREADY
[ $? = 42 ]
verdict 'a start of its own: ashlar_tls_init, ashlar_tls_use'
own -DBARE -DCHECKED
[ $? = 132 ] && [ "$(head -n 1 "$folder/said")" = 'ashlar: no thread-local storage in this thread, see ashlar_start.h' ]
verdict 'without them, ashlar_tls_check says what is missing'
own -DBARE
[ $? = 139 ]
verdict 'and without that, the first call is a fault, as ashlar_start.h says'

# ---- C++ ----

cat >"$folder/program.cpp" <<'C'
#include <ashlar.h>
#include <ashlar_start.h>
extern "C" int main(int, char **argv)
{
	struct text { char *p = static_cast<char *>(ash_alloc(100)); ~text() { ash_release(p); } } block;

	return block.p && argv[1] ? ash_check() + 42 : 1;
}
C
for compiler in clang++ g++; do
	if ! command -v $compiler >/dev/null; then
		echo "skip start: C++ by $compiler: it is not here"
		continue
	fi
	# shellcheck disable=SC2086
	$compiler $flags -fno-exceptions -fno-rtti -static "$folder/program.cpp" $libraries -o "$folder/program" &&
		"$folder/program" one
	[ $? = 42 ]
	verdict "C++ by $compiler"
done

# ---- the header ----

for language in c c++; do
	echo '#include "ashlar_start.h"' | clang -x $language -Wall -Wextra -pedantic -Werror -fsyntax-only \
		-I"$build/include" - 2>"$folder/errors"
	verdict "the header is $language"
done
! ls "$build"/librt.a >/dev/null 2>&1
verdict 'no library of ours has the name of another: -lrt'
exit $status

#!/bin/sh
# SPDX-License-Identifier: MIT
# libashlar_malloc.so of the other CPUs, preloaded into programs of their glibc, under QEMU:
# threads, calls before relocation, misuse; and the stacks of libashlar_profile.so.  Needs Debian's
# libc6-arm64-cross and libc6-riscv64-cross, for stacks libgcc-s1-arm64-cross and -riscv64-cross.
. tests/support/verdict.sh
. tests/support/profile.sh

# What tools/programs/early.c includes: the headers of another CPU's C library are not here.
mkdir "$folder/include"
cat >"$folder/include/stdlib.h" <<'C'
#pragma once
#include <stddef.h>
void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t n);
void free(void *p);
_Noreturn void exit(int status);
C
printf '#pragma once\nvoid *memset(void *p, int byte, __SIZE_TYPE__ n);\n' >"$folder/include/string.h"
echo 'int printf(const char *format, ...); int fflush(void *file);' >"$folder/include/stdio.h"

cat >"$folder/program.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
size_t malloc_usable_size(void *p);
int pthread_create(unsigned long *id, void *attributes, void *(*body)(void *), void *argument);
int pthread_join(unsigned long id, void **result);
static void *work(void *argument)
{
	void *last = NULL;
	for (size_t i = 0; i < 3000; i++) {
		char *p = realloc(malloc(i), 3 * i + 1);
		memset(p, (int)i, 3 * i + 1);
		free(last);
		last = p;
	}
	free(last);
	return argument;
}
void begin(int misuse)
{
	unsigned long id[4];
	char *volatile p = malloc(100);
	for (int i = 0; i < 4; i++)
		pthread_create(&id[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(id[i], NULL);
	printf("%zu\n", malloc_usable_size(p));
	fflush(NULL);
#ifdef MISUSE
	free(p);
	free(p);
#endif
	exit(0);
}
C
# The entry of a program without crt1.o: the dynamic linker has set up the C library.
# In the library calls go by pointers, whose relocations come before that of the ifunc (-z now).
cat >"$folder/early.c" <<'C'
#define main program
#include <stdlib.h>
#include <string.h>
#ifndef PROGRAM
static void *(*volatile malloc_at)(size_t) = malloc, *(*volatile calloc_at)(size_t, size_t) = calloc,
	*(*volatile realloc_at)(void *, size_t) = realloc, *(*volatile memset_at)(void *, int, size_t) = memset;
static void (*volatile free_at)(void *) = free;
#define malloc	malloc_at
#define calloc	calloc_at
#define realloc realloc_at
#define free	free_at
#define memset	memset_at
#endif
#include "tools/programs/early.c"
#ifdef PROGRAM
void begin(void)
{
	exit((main(), fflush(NULL)));
}
#endif
C

# linked NAME FLAG...
linked() {
	name=$1
	shift
	# shellcheck disable=SC2086 # a list
	clang --target="$cpu-linux-gnu" $flags -O1 -ffreestanding -fno-stack-protector -nostdlib -nostdlibinc -w -I"$folder/include" \
		-I. -fuse-ld=lld -Wl,-dynamic-linker,"/lib/$linker" "$@" "$root/lib/libc.so.6" -o "$folder/$name"
}
# preloaded NAME: run so.
preloaded() {
	timeout 3600 "qemu-$cpu" -L "$root" -E LD_PRELOAD="$library" -E LD_LIBRARY_PATH="$folder" "$folder/$1" \
		>"$folder/out" 2>"$folder/errors"
}

# site "PLACE..." LIVE ALL: within a fifth, some four standard deviations.
site() {
	sums "$profile" "$1" | awk -v places="$1" -v live="$2" -v all="$3" '
	($1 - live) ^ 2 > (live / 5) ^ 2 || ($2 - all) ^ 2 > (all / 5) ^ 2 {
		print "     " places ": " $0 ", of " live ", " all
		exit 1
	}'
}

for cpu in aarch64 riscv64; do
	root=/usr/$cpu-linux-gnu
	library=$(pwd)/$build/$cpu/libashlar_malloc.so
	case $build in /*) library=$build/$cpu/libashlar_malloc.so ;; esac
	linker=ld-linux-aarch64.so.1 flags=
	[ $cpu = aarch64 ] || linker=ld-linux-riscv64-lp64d.so.1 flags='-march=rv64gc -mabi=lp64d -mno-relax'
	if [ ! -e "$root/lib/libc.so.6" ]; then
		echo "skip cross: $cpu: no C library of it is here (Debian: libc6-arm64-cross, libc6-riscv64-cross)"
		continue
	elif [ ! -e "$library" ]; then
		echo "skip cross: $cpu: $library is not built"
		continue
	fi
	linked program -Wl,-e,begin -fno-pie -no-pie "$folder/program.c" && preloaded program && [ "$(cat "$folder/out")" = 112 ] &&
		[ ! -s "$folder/errors" ]
	verdict "$cpu: a program of glibc, with threads"
	[ "$(timeout 3600 "qemu-$cpu" -L "$root" "$folder/program")" = 104 ]
	verdict "$cpu: without it malloc is another's"
	linked misuse -Wl,-e,begin -fno-pie -no-pie -DMISUSE "$folder/program.c" && ! preloaded misuse &&
		grep -q '^ashlar: free(0x[0-9a-f]*): double free, 112-byte block at 0x' "$folder/errors"
	verdict "$cpu: misuse is told"
	linked libearly.so -fPIC -shared -Wl,-z,now "$folder/early.c" &&
		linked early -Wl,-e,begin -fno-pie -no-pie -DPROGRAM "$folder/early.c" "$folder/libearly.so" && preloaded early &&
		[ "$(cat "$folder/out")" = '42 3 0' ] && [ ! -s "$folder/errors" ]
	verdict "$cpu: a library that is relocated first calls it in an ifunc resolver, and in a constructor" "$folder/errors"

	library=${library%malloc.so}profile.so
	if [ ! -e "$library" ]; then
		echo "skip cross: $cpu: $library is not built"
		continue
	fi
	if [ ! -e "$root/lib/libgcc_s.so.1" ]; then
		# Frame pointers would need process_vm_readv, which QEMU does not have.
		echo "skip cross: $cpu: samples: no libgcc_s.so.1 of it is here (Debian: libgcc-s1-...-cross)"
		continue
	fi
	rm -f "$folder"/p.*
	profile=/dev/null
	# Each place has one way to be called; the handler's is through the kernel's frame.
	linked sampled -Wl,-e,begin -fno-pie -no-pie -fno-optimize-sibling-calls -fasynchronous-unwind-tables -DCROSS -DROUNDS=20000 \
		tests/check/sampled.c &&
		ASHLAR_PROFILE=$folder/p ASHLAR_PROFILE_DISTANCE=16384 ASHLAR_PROFILE_SIGNAL=12 preloaded sampled &&
		[ ! -s "$folder/errors" ] && symbols "$folder/sampled" llvm-nm && profile=$(echo "$folder"/p.*.heap) &&
		site 'small times begin' 2240000 2240000 && site 'middle times begin' 9216000 9216000 &&
		site 'passing times begin' 0 14080000 && site 'thread work' 4160000 4160000
	verdict "$cpu: samples of a program, with the functions on each stack"
	site 'handler begin' 2048000 2048000
	verdict "$cpu: and through a signal's frame"
done
exit $status

#!/bin/sh
# SPDX-License-Identifier: MIT
# libashlar-asan.a: what programs do wrong with blocks is reported by AddressSanitizer, MemorySanitizer and valgrind's
# memcheck, and nothing else is.
. tests/support/verdict.sh

cat >"$folder/program.c" <<'C'
#define _GNU_SOURCE
#include <ashlar_heap.h>
#include <ashlar_heap_slots.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20 };
static volatile char sink;

/* All calls, with blocks of 0 to 3 MiB, each of which is written, and zero where that is promised. */
static void *works(void *seed)
{
	unsigned long x = (unsigned long)seed;
	size_t had[50] = {0};
	char *live[50] = {0};

	for (int i = 0; i < 700; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		unsigned at = (unsigned)(x >> 33) % 50;
		size_t n = (x >> 40) % 3000 * ((x >> 60) == 0 ? 1000 : 1), old = had[at];
		char *p = live[at];
		switch (x >> 56 & 7) {
		case 0:
			p = ash_resize(p, n);
			for (size_t k = 0; k < n && k < old; k++)
				if (p[k] != 1) abort();
			break;
		case 1:
			ash_release(p);
			p = ash_zalloc(1, n);
			for (size_t k = 0; k < n; k++)
				if (p[k] != 0) abort();
			break;
		case 2: n = ash_usable_size(p); break;
		case 3: n = p != NULL && ash_expand(p, n) != 0 ? n : old; break;
		case 4: n = ash_trim_step(MIB) == 0 && ash_trim(0) == 1 ? 0 : old; break;
		case 5: p = ash_aligned_resize(p, 4096, n); break;
		default:
			ash_release_sized(p, old);
			p = ash_aligned_alloc(64, n);
		}
		if (p != NULL) memset(p, 1, n);
		live[at] = p, had[at] = n;
	}
	for (int i = 0; i < 50; i++)
		ash_release(live[i]);
	ash_thread_detach();
	return NULL;
}

#ifdef WATCHED /* in place of the sanitizer: what is a thread's own is poisoned, before another may have it */
void __asan_poison_memory_region(const volatile void *p, size_t size)
{
	struct ash_block b;
	if (size < MIB && ash_find((const void *)p, &b) != ASH_TAKEN) abort();
}
#endif

/* Bytes that nobody wrote. */
static __attribute__((noinline)) void unwritten(char *p, size_t size)
{
	volatile char bytes[1 << 15];
	for (size_t i = 0; i < size; i++)
		p[i] = bytes[i];
}

static int walked(void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	*(int *)context += owner->live != 0 && size != 0;
	return 0;
}

static void thread_seen(void *context, const struct ash_thread_stats *figures)
{
	*(int *)context += figures->thread != NULL && figures->slabs != 0;
}

/* Memory that was unwritten is zero, copied or figures now. */
static int told(ash_heap *heap)
{
	char *p = ash_heap_alloc(heap, 3000), *q = ash_heap_alloc(heap, 300), **slot = ash_heap_zalloc(heap, 1, 8);
	struct ash_statistics s;
	int n = 0;

	if (*slot != NULL) abort();
	unwritten(p, 3000), unwritten(q, 300);
	ash_release(q), ash_release(p);
	q = ash_heap_zalloc(heap, 3, 100);
	for (int i = 0; i < 300; i++) n += q[i];
	memset(q, 0, 300);
	q = ash_heap_resize(heap, q, 3000);
	for (int i = 0; i < 300; i++) n += q[i];
	unwritten(q, 3000);
	p = ash_resize(q, 3010);
	ash_release(p);
	q = ash_heap_aligned_zalloc(heap, 64, 3000);
	for (int i = 0; i < 3000; i++) n += q[i];
	if (n != 0) abort();
	ash_heap_stats(heap, &s);
	if (s.blocks != 2) abort();
	unwritten(q, 3000); /* and so the stack here */
	ash_heap_walk(heap, walked, &n);
	return n;
}

int main(int argc, char **argv)
{
	static char array[1 << 16];
	char *p = ash_alloc(100), *span = ash_alloc(3 * MIB), *other = ash_alloc(1000);
	pthread_t thread[3];
	int status = 0;

	memset(p, 1, 100);
	memset(other, 1, 1000);
	span[0] = span[3 * MIB - 1] = 1;
	switch (argv[1][0]) {
	case 'a': ash_release(p); sink = p[50]; break;
	case 'b': sink = p[100]; break; /* of 112 */
	case 'c': p[101] = 1; break;
	case 'd': sink = p[112]; break; /* the slot behind, which is free */
	case 'e': sink = other[4096]; break; /* of another class */
	case 'f': ash_release(span); sink = span[MIB]; break;
	case 'g': span = ash_resize(p, 50); sink = p[0]; break;
	case 'h': (void)ash_expand(span, 2 * MIB); sink = span[2 * MIB]; break;
	case 'i': (void)ash_expand(p, 105); sink = p[105]; break;
	case 'j': ash_release_aligned_sized(p, 8, 100); sink = p[0]; break;
	case 'k': if (other[0] == (char)0 || ((volatile char *)ash_alloc(300))[5] == 7) sink = 1; break;
	case 'l': unwritten(other, 10); /* fall through */
	case 'm': other = ash_resize(other, 3000); if (other[argv[1][0] == 'l' ? 5 : 2000] == 7) sink = 1; break;
	case 'n': ash_release(other); if (*(volatile char *)other == 7) sink = 1; break;
	case 'o': span = ash_alloc(5 * MIB); if (span[4 * MIB] == 7) sink = 1; break;
	case 'p': if (ash_expand(span, 4 * MIB) == 0 || span[4 * MIB - 1] == 7) sink = 1; break;
	case 'q': ash_release(p); ash_release(p); break;
	case 'A': works(NULL); break;
	case 'G': {
		struct ash_block b;
		struct ash_class c;
		struct ash_statistics s;
		ash_heap *heap = ash_heap_create(NULL);
		if (told(heap) == 0) abort();
		ash_heap_destroy(heap);
		unwritten(p, 100), unwritten(other, 1000);
		ash_release(p), ash_release(other);
		p = ash_zalloc(1, 100), other = ash_aligned_zalloc(16, 1000);
		for (int i = 0; i < 1000; i++) status += p[i % 100] + other[i];
		ash_stats(&s);
		status += ash_find(p, &b) != ASH_TAKEN || b.size != 112 || s.blocks != 3 || !ash_stats_class(3, &c) || c.size == 0;
		int n = 0;
		unwritten(other, 1000);
		ash_stats_threads(thread_seen, &n);
		status += n != 1;
		break;
	}
	case 'B': for (long i = 0; i < 3; i++) pthread_create(thread + i, NULL, works, (void *)(i + 1));
		  for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
		  break;
	case 'C': /* other heaps are not told of */
		for (int i = 0; i < 2; i++) {
			ash_heap *heap = i == 0 ? ash_heap_create(NULL) : ash_heap_create_in(array, sizeof array);
			char *q = memset(ash_heap_alloc(heap, 100), 1, 112);
			q = ash_resize(q, 3000);
			if (q[99] != 1) abort();
			ash_release(q);
			ash_heap_destroy(heap);
		}
		array[100] = 1;
		break;
	case 'D': /* memory that was given back may be others' */
		ash_release(span);
		span = ash_alloc(64 * MIB);
		ash_release(span);
		(void)ash_trim(0);
		span = (char *)syscall(SYS_mmap, span, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		span[4096] = 1;
		break;
	case 'E': if (fork() == 0) { works(NULL); exit(ash_check()); }
		  wait(&status);
		  works(NULL);
		  break;
	case 'F': memset(p, 2, ash_usable_size(p)); (void)ash_expand(p, 0); p[0] = 1; break;
	}
	printf("end, %d\n", ash_check() + status);
	return 0;
}
C
wrong='a b c d e f g h i j'
right='A B C D E F G'

# judged NAME PATTERN COMMAND...: what is wrong is reported, as the pattern says, and what is right is not.
judged() {
	name=$1 pattern=$2
	shift 2
	: >"$folder/log"
	for case in $wrong; do
		"$@" "$case" >"$folder/said" 2>&1
		grep -qE "$pattern" "$folder/said" || { echo "$case is not reported" && cat "$folder/said"; } >>"$folder/log"
	done
	[ ! -s "$folder/log" ]
	verdict "$name reports what is wrong: $wrong" "$folder/log"
	for case in $right; do
		"$@" "$case" >"$folder/said" 2>&1
		[ "$(cat "$folder/said")" = 'end, 0' ] || { echo "$case:" && head -n 20 "$folder/said"; } >>"$folder/log"
	done
	[ ! -s "$folder/log" ]
	verdict "$name is silent about programs that are right" "$folder/log"
}
# traced NAME PATTERN COMMAND...: the stack of a second release stands above Ashlar's line.
traced() {
	name=$1 pattern=$2
	shift 2
	"$@" q >"$folder/log" 2>&1
	grep -E "$pattern|^ashlar: ash_release\(0x.*double free" "$folder/log" | sed -n 2p | grep -q '^ashlar'
	verdict "$name shows who releases a block twice" "$folder/log"
}
# made OUT OPTION...: compiled with these.
made() {
	out=$1
	shift
	"${compiler:-cc}" -g -O1 -w -pthread -I"$build/include" "$@" "$folder/program.c" "$build/asan/libashlar-asan.a" \
		-o "$folder/$out" 2>"$folder/errors"
}

ran=
# Both have one runtime: one of them, but in make test-long.
for compiler in gcc clang; do
	[ -z "$ran" ] || [ -n "${STEPS_FULL:-}" ] || continue
	echo 'int main(void) { return 0; }' >"$folder/empty.c"
	if "$compiler" -fsanitize=address "$folder/empty.c" -o "$folder/empty" 2>/dev/null; then
		made asan -fsanitize=address
		verdict "a program of $compiler links with it" "$folder/errors"
		judged "AddressSanitizer of $compiler" 'AddressSanitizer: use-after-poison' "$folder/asan"
		traced "AddressSanitizer of $compiler" '^ +#[5-7] 0x.* in main' "$folder/asan"
		ran=1
	else
		echo "skip $subject: AddressSanitizer of $compiler is not here"
	fi
done
compiler=clang
if "$compiler" -fsanitize=memory "$folder/empty.c" -o "$folder/empty" 2>/dev/null; then
	made msan -fsanitize=memory
	verdict "a program of $compiler with MemorySanitizer links with it" "$folder/errors"
	addresses=$wrong wrong='k l m n o p'
	judged MemorySanitizer 'MemorySanitizer: use-of-uninitialized-value' "$folder/msan"
	wrong=$addresses
else
	echo "skip $subject: MemorySanitizer is not here"
fi
[ -z "$ran" ] || compiler=gcc
made watched -DWATCHED && [ "$("$folder/watched" A 2>&1)" = 'end, 0' ]
verdict 'memory is poisoned before it is released' "$folder/errors"
made plain
verdict 'a program without AddressSanitizer links with it' "$folder/errors"
for case in $right; do
	[ "$("$folder/plain" "$case" 2>&1)" = 'end, 0' ] || echo "$case"
done >"$folder/log"
[ ! -s "$folder/log" ]
verdict 'and is as it was' "$folder/log"
if command -v valgrind >/dev/null && echo '#include <valgrind/memcheck.h>' | cc -E - >/dev/null 2>&1; then
	judged memcheck 'Invalid (read|write)' valgrind -q "$folder/plain"
	valgrind -q "$folder/plain" a >"$folder/log" 2>&1
	grep -q "50 bytes inside a block of size 100 free'd" "$folder/log" && grep -q "Block was alloc'd at" "$folder/log"
	verdict 'memcheck knows where the block was given and released' "$folder/log"
	traced memcheck 'by 0x[0-9A-F]+: main \(program\.c' valgrind -q "$folder/plain"
else
	echo "skip $subject: valgrind or its headers are not here"
fi
exit $status

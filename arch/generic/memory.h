/* SPDX-License-Identifier: MIT */
/*
 * memcpy, memmove, memset, memcmp: a freestanding compiler still emits calls to these four.  They are weak, so that a
 * program's own definitions win; hidden, so that a shared library never exports them; and in an object of their own,
 * so that a program which defines all four links nothing of this object.  This header has the common parts of the
 * CPUs of 64 bits.
 */
#ifndef ARCH_MEMORY_H
#define ARCH_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef ASHLAR_AMALGAMATION /* includes this file, also for calls that the compiler makes */
#define FAMILY static __attribute__((used))
#else
#define FAMILY __attribute__((weak, visibility("hidden")))
#endif

/* Unaligned, and exempt from the aliasing rules.  gcc needs `aligned` to come last. */
typedef uint64_t __attribute__((may_alias, aligned(1))) memory_word;
typedef uint32_t __attribute__((may_alias, aligned(1))) memory_half;

FAMILY void *memcpy(void *restrict to, const void *restrict from, size_t n);
FAMILY void *memmove(void *to, const void *from, size_t n);
FAMILY void *memset(void *to, int byte, size_t n);
FAMILY int memcmp(const void *a, const void *b, size_t n);

/* Keeps the compiler from turning these loops into calls of the functions themselves. */
#define PLAIN_LOOP __asm__ volatile("" ::: "memory")

/* Copies up to 16 bytes.  All are read before any is written, so the ranges may overlap. */
static void copy_few(unsigned char *t, const unsigned char *f, size_t n)
{
	if (n >= 8) {
		uint64_t first = *(const memory_word *)f, last = *(const memory_word *)(f + n - 8);

		*(memory_word *)t = first;
		*(memory_word *)(t + n - 8) = last;
	} else if (n >= 4) {
		uint32_t first = *(const memory_half *)f, last = *(const memory_half *)(f + n - 4);

		*(memory_half *)t = first;
		*(memory_half *)(t + n - 4) = last;
	} else if (n > 0) {
		unsigned char first = f[0], middle = f[n / 2], last = f[n - 1];

		t[0] = first;
		t[n / 2] = middle;
		t[n - 1] = last;
	}
}

#endif

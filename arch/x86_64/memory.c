/* SPDX-License-Identifier: MIT */
/*
 * The memcpy family (generic/memory.h).  From some hundred bytes up the string instructions
 * are fastest: their microcode moves whole cache lines.  Below that a loop over 16 bytes
 * starts sooner.  A remainder of less than 16 bytes is written by a last step that overlaps
 * the previous one, so there is no loop over bytes.
 */
#include "host.h"
#ifdef ARCH_X86_64

#include "../generic/memory.h"

#define LOOP_LIMIT 512 /* bytes up to which the loop wins */

typedef uint64_t __attribute__((vector_size(16), may_alias, aligned(1))) memory_line;

FAMILY void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;
	size_t i;

	if (n > LOOP_LIMIT) {
		__asm__ volatile("rep movsb" : "+D"(t), "+S"(f), "+c"(n) : : "memory");
		return to;
	}
	if (n <= 16) {
		copy_few(t, f, n);
		return to;
	}
	for (i = 0; i < n - 16; i += 16) {
		*(memory_line *)(t + i) = *(const memory_line *)(f + i);
		PLAIN_LOOP;
	}
	*(memory_line *)(t + n - 16) = *(const memory_line *)(f + n - 16);
	return to;
}

FAMILY void *memmove(void *to, const void *from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;
	memory_line first;

	/* Only a target that begins inside the source needs copying backwards. */
	if ((uintptr_t)t - (uintptr_t)f >= n) {
		if ((uintptr_t)f - (uintptr_t)t >= n)
			return memcpy(to, from, n);
		/* Forwards: the string instruction handles this kind of overlap correctly. */
		__asm__ volatile("rep movsb" : "+D"(t), "+S"(f), "+c"(n) : : "memory");
		return to;
	}
	if (n <= 16) {
		copy_few(t, f, n);
		return to;
	}
	first = *(const memory_line *)f;
	for (; n > 16; n -= 16) {
		*(memory_line *)(t + n - 16) = *(const memory_line *)(f + n - 16);
		PLAIN_LOOP;
	}
	*(memory_line *)t = first;
	return to;
}

FAMILY void *memset(void *to, int byte, size_t n)
{
	unsigned char *t = to;
	uint64_t pattern = 0x0101010101010101u * (unsigned char)byte;
	memory_line wide = {pattern, pattern};
	size_t i;

	if (n > LOOP_LIMIT) {
		__asm__ volatile("rep stosb" : "+D"(t), "+c"(n) : "a"(byte) : "memory");
		return to;
	}
	if (n < 16) {
		copy_few(t, (const unsigned char *)&wide, n);
		return to;
	}
	for (i = 0; i < n - 16; i += 16) {
		*(memory_line *)(t + i) = wide;
		PLAIN_LOOP;
	}
	*(memory_line *)(t + n - 16) = wide;
	return to;
}

FAMILY int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n >= 8 && *(const memory_word *)x == *(const memory_word *)y; n -= 8, x += 8, y += 8)
		PLAIN_LOOP;
	for (; n > 0; n--, x++, y++) {
		if (*x != *y)
			return *x < *y ? -1 : 1;
		PLAIN_LOOP;
	}
	return 0;
}
#endif

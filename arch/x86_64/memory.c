/* SPDX-License-Identifier: MIT */
/*
 * The memcpy family.  A freestanding compiler still emits calls to these
 * four.  Weak, so that a program's own win; hidden, so that a shared library
 * never exports them; in an object of their own, so that a program which
 * brings its own links none of these.
 *
 * The string instructions move whole cache lines by microcode from some
 * hundred bytes up; below that a loop over words starts sooner.
 */
#include <stddef.h>
#include <stdint.h>

#define FAMILY	   __attribute__((weak, visibility("hidden")))
#define WORD_LIMIT 256 /* bytes up to which the word loop wins */

/* Unaligned and free of the aliasing rules, as memory is. */
typedef uint64_t __attribute__((may_alias, aligned(1))) word;

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);

/* The compiler must not turn these loops back into calls to themselves. */
#define PLAIN_LOOP __asm__ volatile("" ::: "memory")

FAMILY void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if (n > WORD_LIMIT) {
		__asm__ volatile("rep movsb" : "+D"(t), "+S"(f), "+c"(n) : : "memory");
		return to;
	}
	for (; n >= 8; n -= 8, t += 8, f += 8) {
		*(word *)t = *(const word *)f;
		PLAIN_LOOP;
	}
	for (; n > 0; n--, t++, f++) {
		*t = *f;
		PLAIN_LOOP;
	}
	return to;
}

FAMILY void *memmove(void *to, const void *from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	/* Only a target inside the source must go backwards. */
	if ((uintptr_t)t - (uintptr_t)f >= n)
		return memcpy(to, from, n);
	for (; n >= 8; n -= 8) {
		*(word *)(t + n - 8) = *(const word *)(f + n - 8);
		PLAIN_LOOP;
	}
	for (; n > 0; n--) {
		t[n - 1] = f[n - 1];
		PLAIN_LOOP;
	}
	return to;
}

FAMILY void *memset(void *to, int byte, size_t n)
{
	unsigned char *t = to;
	uint64_t pattern = 0x0101010101010101u * (unsigned char)byte;

	if (n > WORD_LIMIT) {
		__asm__ volatile("rep stosb" : "+D"(t), "+c"(n) : "a"(byte) : "memory");
		return to;
	}
	for (; n >= 8; n -= 8, t += 8) {
		*(word *)t = pattern;
		PLAIN_LOOP;
	}
	for (; n > 0; n--, t++) {
		*t = (unsigned char)byte;
		PLAIN_LOOP;
	}
	return to;
}

FAMILY int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n >= 8 && *(const word *)x == *(const word *)y; n -= 8, x += 8, y += 8)
		PLAIN_LOOP;
	for (; n > 0; n--, x++, y++) {
		if (*x != *y)
			return *x < *y ? -1 : 1;
		PLAIN_LOOP;
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * The memcpy family by words of 32 bits, weak and hidden as in generic/memory.h.  The loops are short because a CPU
 * may not load words at odd addresses.
 */
#include "host.h"

#include <stddef.h>
#include <stdint.h>

#define FAMILY __attribute__((weak, visibility("hidden")))

typedef uint32_t __attribute__((may_alias)) memory_word;

/* Keeps the compiler from turning these loops into calls of the functions themselves. */
#define PLAIN_LOOP __asm__ volatile("" ::: "memory")

FAMILY void *memcpy(void *restrict to, const void *restrict from, size_t n);
FAMILY void *memmove(void *to, const void *from, size_t n);
FAMILY void *memset(void *to, int byte, size_t n);
FAMILY int memcmp(const void *a, const void *b, size_t n);

/* Correct also if the target begins before the source and reaches into it. */
FAMILY void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if ((((uintptr_t)t | (uintptr_t)f) & 3) == 0)
		for (; n >= 4; n -= 4, t += 4, f += 4) {
			*(memory_word *)(void *)t = *(const memory_word *)(const void *)f;
			PLAIN_LOOP;
		}
	for (; n > 0; n--) {
		*t++ = *f++;
		PLAIN_LOOP;
	}
	return to;
}

FAMILY void *memmove(void *to, const void *from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if ((uintptr_t)t - (uintptr_t)f >= n)
		return memcpy(to, from, n);
	while (n-- > 0) {
		t[n] = f[n];
		PLAIN_LOOP;
	}
	return to;
}

FAMILY void *memset(void *to, int byte, size_t n)
{
	unsigned char *t = to;
	uint32_t word = 0x01010101u * (unsigned char)byte;

	for (; n > 0 && ((uintptr_t)t & 3) != 0; n--) {
		*t++ = (unsigned char)byte;
		PLAIN_LOOP;
	}
	for (; n >= 4; n -= 4, t += 4) {
		*(memory_word *)(void *)t = word;
		PLAIN_LOOP;
	}
	for (; n > 0; n--) {
		*t++ = (unsigned char)byte;
		PLAIN_LOOP;
	}
	return to;
}

FAMILY int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n > 0; n--, x++, y++) {
		if (*x != *y)
			return *x < *y ? -1 : 1;
		PLAIN_LOOP;
	}
	return 0;
}

#ifdef __ARM_EABI__
/* The function that compilers call there instead of memset, with its arguments in another order. */
#define CLEAR(name)                                                                                	FAMILY void name(void *to, size_t n);                                                      	FAMILY void name(void *to, size_t n)                                                       	{                                                                                          		memset(to, 0, n);                                                                  	}
#define COPY(name)                                                                                 	FAMILY void name(void *restrict to, const void *restrict from, size_t n);                  	FAMILY void name(void *restrict to, const void *restrict from, size_t n)                   	{                                                                                          		memcpy(to, from, n);                                                               	}
CLEAR(__aeabi_memclr)
CLEAR(__aeabi_memclr4)
CLEAR(__aeabi_memclr8)
COPY(__aeabi_memcpy)
COPY(__aeabi_memcpy4)
COPY(__aeabi_memcpy8)
#endif

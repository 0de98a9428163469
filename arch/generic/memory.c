/* SPDX-License-Identifier: MIT */
/*
 * The memcpy family (memory.h) for CPUs without string instructions: loops over 16 bytes.  A remainder of less than
 * 16 bytes is written by a last step that overlaps the previous one.  If a CPU may not load words at any address, the
 * compiler makes bytes of these; hence a loop for aligned words.
 */
#include "../generic/memory.h"

typedef uint64_t __attribute__((may_alias)) memory_whole;
struct memory_line {
	memory_word first, second;
};

static inline struct memory_line line_read(const unsigned char *f)
{
	return (struct memory_line){*(const memory_word *)f, *(const memory_word *)(f + 8)};
}

static inline void line_write(unsigned char *t, struct memory_line line)
{
	*(memory_word *)t = line.first;
	*(memory_word *)(t + 8) = line.second;
}

/* n > 16; a target that begins before the source may reach into it. */
static void copy_forwards(unsigned char *t, const unsigned char *f, size_t n)
{
	struct memory_line last = line_read(f + n - 16);
	size_t i = 0;

	if ((((uintptr_t)t | (uintptr_t)f) & 7) == 0) {
		for (; i < n - 16; i += 16) {
			uint64_t one = *(const memory_whole *)(const void *)(f + i),
				 two = *(const memory_whole *)(const void *)(f + i + 8);

			*(memory_whole *)(void *)(t + i) = one;
			*(memory_whole *)(void *)(t + i + 8) = two;
			PLAIN_LOOP;
		}
	} else {
		for (; i < n - 16; i += 16) {
			line_write(t + i, line_read(f + i));
			PLAIN_LOOP;
		}
	}
	line_write(t + n - 16, last);
}

FAMILY void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	if (n <= 16)
		copy_few(to, from, n);
	else
		copy_forwards(to, from, n);
	return to;
}

FAMILY void *memmove(void *to, const void *from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;
	struct memory_line first;

	/* Only a target that begins inside the source needs copying backwards. */
	if (n <= 16 || (uintptr_t)t - (uintptr_t)f >= n) {
		if (n <= 16)
			copy_few(t, f, n);
		else
			copy_forwards(t, f, n);
		return to;
	}
	first = line_read(f);
	for (; n > 16; n -= 16) {
		line_write(t + n - 16, line_read(f + n - 16));
		PLAIN_LOOP;
	}
	line_write(t, first);
	return to;
}

FAMILY void *memset(void *to, int byte, size_t n)
{
	unsigned char *t = to;
	uint64_t pattern = 0x0101010101010101u * (unsigned char)byte;
	struct memory_line wide = {pattern, pattern};
	size_t i;

	if (n < 16) {
		copy_few(t, (const unsigned char *)&wide, n);
		return to;
	}
	line_write(t, wide);
	/* From the next multiple of 8, which is already written up to 16. */
	for (i = 8 - ((uintptr_t)t & 7); i < n - 16; i += 16) {
		*(memory_whole *)(void *)(t + i) = pattern;
		*(memory_whole *)(void *)(t + i + 8) = pattern;
		PLAIN_LOOP;
	}
	line_write(t + n - 16, wide);
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

/* SPDX-License-Identifier: MIT */
/*
 * Blocks, cleared and copied by whole lines of 16 bytes: short ones without a
 * loop.  A block of more than 8 bytes is aligned to a line and has room for
 * whole ones, so what is written goes beyond n, but not beyond the block.
 *
 *   |a a|b b|c c c c|  . . .  |c c c c|b b|a a|     the two ends meet or overlap
 */
#ifndef SYS_LINES_H
#define SYS_LINES_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t __attribute__((vector_size(16), may_alias)) vec16_one;
typedef uint64_t __attribute__((may_alias)) vec16_half;

#define LINE_AT(block, offset) (*(vec16_one *)(void *)((char *)(block) + (offset)))
#define LINE_OF(block, offset)                                                                     \
	(*(const vec16_one *)(const void *)((const char *)(block) + (offset)))

static inline void vec16_clear(void *block, size_t n)
{
	const vec16_one zero = {0, 0};
	size_t last = (n - 1) & ~(size_t)15, i;

	if (n <= sizeof(vec16_half)) {
		*(vec16_half *)block = 0;
		return;
	}
	LINE_AT(block, 0) = LINE_AT(block, last) = zero;
	if (n <= 32)
		return;
	LINE_AT(block, 16) = LINE_AT(block, last - 16) = zero;
	if (n <= 64)
		return;
	LINE_AT(block, 32) = LINE_AT(block, 48) = zero;
	LINE_AT(block, last - 48) = LINE_AT(block, last - 32) = zero;
	for (i = 64; i < last - 48; i += 64) {
		LINE_AT(block, i) = LINE_AT(block, i + 16) = zero;
		LINE_AT(block, i + 32) = LINE_AT(block, i + 48) = zero;
	}
}

/* To another block. */
static inline void vec16_copy(void *to, const void *from, size_t n)
{
	size_t last = (n - 1) & ~(size_t)15, i;

	if (n <= sizeof(vec16_half)) {
		*(vec16_half *)to = *(const vec16_half *)from;
		return;
	}
	LINE_AT(to, 0) = LINE_OF(from, 0);
	LINE_AT(to, last) = LINE_OF(from, last);
	if (n <= 32)
		return;
	LINE_AT(to, 16) = LINE_OF(from, 16);
	LINE_AT(to, last - 16) = LINE_OF(from, last - 16);
	for (i = 32; i < last - 16; i += 32) {
		LINE_AT(to, i) = LINE_OF(from, i);
		LINE_AT(to, i + 16) = LINE_OF(from, i + 16);
	}
}

#endif

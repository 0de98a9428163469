/* SPDX-License-Identifier: MIT */
/*
 * Clearing and copying blocks by vectors of 16 bytes, short blocks without a
 * loop.  A block of more than 8 bytes is aligned to 16 and a multiple of 16
 * long, so writes may go beyond n, but not beyond the block.
 *
 *   |a a|b b|c c c c|  . . .  |c c c c|b b|a a|     the two ends meet or overlap
 */
#ifndef SYS_VEC16_H
#define SYS_VEC16_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t __attribute__((vector_size(16), may_alias)) vec16;
typedef uint64_t __attribute__((may_alias)) vec16_half;

#define VEC16_AT(block, offset) (*(vec16 *)(void *)((char *)(block) + (offset)))
#define VEC16_OF(block, offset)                                                                     \
	(*(const vec16 *)(const void *)((const char *)(block) + (offset)))

static inline void vec16_clear(void *block, size_t n)
{
	const vec16 zero = {0, 0};
	size_t last = (n - 1) & ~(size_t)15, i;

	if (n <= sizeof(vec16_half)) {
		*(vec16_half *)block = 0;
		return;
	}
	VEC16_AT(block, 0) = VEC16_AT(block, last) = zero;
	if (n <= 32)
		return;
	VEC16_AT(block, 16) = VEC16_AT(block, last - 16) = zero;
	for (i = 32; i < last - 16; i += 32)
		VEC16_AT(block, i) = VEC16_AT(block, i + 16) = zero;
}

/* The blocks must not overlap. */
static inline void vec16_copy(void *to, const void *from, size_t n)
{
	size_t last = (n - 1) & ~(size_t)15, i;

	if (n <= sizeof(vec16_half)) {
		*(vec16_half *)to = *(const vec16_half *)from;
		return;
	}
	VEC16_AT(to, 0) = VEC16_OF(from, 0);
	VEC16_AT(to, last) = VEC16_OF(from, last);
	if (n <= 32)
		return;
	VEC16_AT(to, 16) = VEC16_OF(from, 16);
	VEC16_AT(to, last - 16) = VEC16_OF(from, last - 16);
	for (i = 32; i < last - 16; i += 32) {
		VEC16_AT(to, i) = VEC16_OF(from, i);
		VEC16_AT(to, i + 16) = VEC16_OF(from, i + 16);
	}
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * libashlar-small.a: blocks above 520 192 bytes, or aligned to more than 64 KiB, each in a mapping of its own
 * of whole pieces of 2 MiB.  The only record of a block is the word of its first piece (place.h): one thread
 * that changes the word wins the block, or its release.  Memory that the system does not take back keeps a
 * word without pages.
 */
#ifndef CORE_LARGE_H
#define CORE_LARGE_H

#include "small/place.h"

/* Blocks have whole pages of the smallest size that the CPU may have. */
#define LARGE_PIECES 37

static inline size_t large_pages(size_t size)
{
	return size <= PAGE_LEAST ? 1 : (size + PAGE_LEAST - 1) / PAGE_LEAST;
}

/* Returns the bytes of the block that begins at the word's piece, or 0. */
static inline size_t large_bytes(uint64_t word)
{
	return (word & 1) == 0 ? 0 : (word & (((uint64_t)1 << LARGE_PIECES) - 1)) / 2 * PAGE_LEAST;
}

/* Returns the bytes of the mapping that begins there, also of one without a block. */
static inline size_t large_mapped(uint64_t word)
{
	return (word & 1) == 0 ? 0 : (word >> LARGE_PIECES) * PLACE_BYTES;
}

/*
 * Allocates a block, which reads zero if `zero`; `more` is the number of bytes of addresses behind the block
 * into which it may grow.  Returns NULL if there is no memory.
 */
INTERNAL void *large_alloc(size_t size, size_t alignment, bool zero, size_t more);
/* Changes the size of the block at p, whose word this is, in place; returns false if that is not possible. */
INTERNAL bool large_fit(void *p, uint64_t word, size_t size);
/*
 * Moves the beginning of a block, which is released next, to the beginning of another block.  Returns false
 * if it moved nothing and the other block is lost (PAGES_LOST); that happens once.
 */
INTERNAL bool large_copy(char *to, char *from, size_t bytes);
/* Returns false if another thread released the block at the same time. */
INTERNAL bool large_release(void *p, uint64_t word);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Tags of blocks: the process that allocated each block (census.h), and the kind of each block.  This header has
 * both, and a walk over all blocks.
 *
 * Kinds: the tags of 8 bits that the program gives to blocks (ash_heap_alloc_tagged).
 *
 *   behind a slab's remote words: a slot --> leaf: a byte for each slot of the slab
 *
 * Leaves are blocks of the heap itself, made when they are first needed, so a heap without tags has no leaf.  A leaf
 * stays for the next slab that begins in the same unit.  The byte is valid only if TAG_KIND is set in the block's
 * census tag, which each allocation writes.  A span has the kind beside the census tag.
 */
#ifndef CORE_BLOCK_TAGS_H
#define CORE_BLOCK_TAGS_H

#include "store/allocator.h"
#include "store/file/store.h"

#define KIND_SHIFT 16 /* in the tag of a span */

/* Returns the slot of the leaf for this slab. */
static inline uint64_t *kinds_slot(const struct slab *s)
{
	return load_relaxed(&s->remote) + KINDS_SLOT;
}

/* Returns the byte of a slot, or NULL if there is no leaf. */
INTERNAL uint8_t *kinds_byte(struct heap *h, const struct slab *s, size_t index);

/* Returns the program's tag of a block, or 0 if the block has no tag. */
INTERNAL unsigned char kind_of(struct heap *h, const struct block_place *at);

/* Returns the program's tag of the block at p in this chunk, or 0 if the block has no tag. */
INTERNAL unsigned char kind_at(struct chunk *c, const void *p);

/* Returns whether a block of this heap with at least `bytes` bytes lies at p. */
INTERNAL bool kinds_block(struct heap *h, uint64_t p, size_t bytes);

/* ---- all blocks, and the process that allocated each ---- */

/* The body of ash_heap_walk.  With `ask`, also finds out whether owners live, by a system call for each process. */
INTERNAL int block_walk(struct heap *h, bool ask,
			int (*see)(void *, void *, size_t, const struct ash_heap_owner *),
			void *context);

/* Returns the id of the process that allocated the block of this slot, or this span (s == NULL). */
INTERNAL uint64_t block_owner(const struct chunk *c, const struct slab *s, size_t index);

/* ---- a process joins the census (census.h): it gets a tag ---- */

/*
 * Returns the calling process's tag.  Returns TAG_UNKNOWN if all processes in the census live or left a block, or if
 * no process could judge the caller's life (census.h).
 */
INTERNAL uint16_t census_join(struct store *s);

/* Returns the tag for a thread with the record o, which may be NULL. */
INTERNAL uint16_t census_mine(struct store *s, const struct owner *o);

#endif

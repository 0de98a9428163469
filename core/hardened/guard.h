/* SPDX-License-Identifier: MIT */
/*
 * Guarded blocks: the block's size and a check word in its slack.
 *
 *   slot, span   |<------ size ------>|m|0 0 0 0 0 0|word|
 *                p                    p + size      p + have - 8
 *
 *   word    the slack (have - size), and above it a hash of slack, address and a secret; never 0 in a
 *           live block, and 0 once the block was released
 *   m       the mark: a byte of the hash, from 128 on, where the slack is more than the word
 *
 * A block of size 0 has neither word nor mark: its class, of 8 bytes, is for such blocks alone, and its slabs are
 * without access (fence.c).  Blocks of other heaps than the default heap are not guarded.
 */
#ifndef CORE_GUARD_H
#define CORE_GUARD_H

#include "backend/chunk.h"
#include "backend/map.h"
#include "base/bits.h"
#include "front/block.h"
#include "front/slot.h"
#include "internal.h"

/* Up to 128 KiB: larger blocks have regions of their own while regions are few. */
#define CLASS_APART (CLASS_ONE + 2 * CLASS_PARTS)
#define SLOT_APART  (4 * SLOT_LARGE)

#define GUARD_BYTES sizeof(uint64_t)

/* Returns the bytes that a block of this size needs with the word.  A size that is too large stays unchanged. */
static inline size_t guard_bytes(size_t size)
{
	return size > 0 && size <= PTRDIFF_MAX ? size + GUARD_BYTES : size;
}

/*
 * Returns the bytes of the slot or span of a guarded block.  Returns 0 if p is no such block or is of another heap,
 * which the ordinary call then reports.
 */
static ALWAYS_INLINE size_t guard_have(const void *p)
{
	struct chunk *c;
	uint64_t index;
	struct slab *s;

	if (likely(own_slot(p, &s, &index)) &&
	    likely((load_relaxed(&s->free[index / GROUP_SLOTS]) >> index % GROUP_SLOTS & 1) == 0))
		return s->slot_size;
	c = map_find(p);
	return c == NULL || chunk_heap(c) != &heap_default ? 0 : chunk_block(c, p);
}

/*
 * Makes a slot or span a block of this size, which is not 0, and reports misuse if the memory does not read zero.
 * clean: there may be no memory yet.
 */
INTERNAL void guard_new(void *p, size_t size, size_t have, bool clean);
/*
 * Returns the size of a live block.  Reports misuse by `call` if the block was released or was written behind its
 * end.  `name` is malloc's name of the call, or NULL.
 */
INTERNAL size_t guard_size(const char *call, const char *name, const void *p, size_t have);

INTERNAL _Noreturn void guard_report(const char *call, const char *name, const void *p, const char *fault, size_t have);

/* Removes the word of a block.  Reports misuse if another thread removed the word. */
INTERNAL void guard_take(const char *call, const char *name, void *p, size_t have);
/*
 * guard_lift removes word and mark before a block changes size, and reports misuse like guard_take.  guard_set writes
 * them again.
 */
INTERNAL void guard_lift(const char *call, const char *name, void *p, size_t size, size_t have);
INTERNAL void guard_set(void *p, size_t size, size_t have);

/*
 * Returns the size of a block, for walks.  Returns SIZE_MAX if the block was released or is damaged; if damaged,
 * *damaged is set.  s is the slab, or NULL for a span.  For spans and slabs of other threads, the result is the
 * largest possible size, because their memory may go during the call, unless the caller is `sure` that the block is
 * live.
 */
INTERNAL size_t guard_peek(const struct slab *s, const void *p, size_t have, bool sure, bool *damaged);

#endif

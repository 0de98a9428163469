/* SPDX-License-Identifier: MIT */
/*
 * A look: facts that any thread may learn of a slab while others allocate from the slab, release into it,
 * unmake it and make another slab in its record.
 *
 *   made   size, slots, ...   remote word, free word   made again
 *     |                                                    |
 *     +------- equal: all belong to one slab --------------+
 *
 * The record of an owner's slab that was unmade keeps its members, and all slots are free.  The record of an
 * unowned slab that was unmade has 0 in all words, see unowned.h.
 */
#ifndef CORE_LOOK_H
#define CORE_LOOK_H

#include "internal.h"
#include "slab/slab.h"

struct look {
	const struct slab *slab;
	char *base;
	const uint64_t *remote;
	size_t size;  /* of a slot */
	size_t slots; /* the whole word, which may be anything in a file */
	unsigned groups, class, units;
	uint32_t made;
	bool unowned;
};

/* The words of one group. */
struct look_group {
	uint64_t taken;   /* bit: the slot is taken                                        */
	uint64_t pending; /* bit: another thread released the slot, and the owner has not collected it */
};

/* Begins a look.  The members of the result belong to one slab if look_at_group then returns true. */
INTERNAL struct look look_begin(const struct slab *s);

/*
 * Returns true if the members are those of a slab that may begin in the unit.  If `fills`, the slab may also
 * have the number of units that its heap gives to a class that is filled (slab_fills).
 */
INTERNAL bool look_is_slab(const struct look *l, unsigned unit, bool fills);

/*
 * Reads the words of group g < groups.  Returns true if each bit was right at some moment of this call.
 * Returns false if the slab has gone, or one thread that makes or unmakes an unowned slab holds the whole
 * group.
 */
INTERNAL bool look_at_group(const struct look *l, unsigned g, struct look_group *out);

/*
 * Returns the size of the slot that starts at p in this slab, and its index.  Returns 0 if no slot starts
 * there, or the slot is free.  For a block that another thread may release, or has released: if the slab goes
 * during the call, either answer is possible.  The index is always that of a slot that the record may have,
 * so its tag may be read.
 */
INTERNAL size_t look_at_slot(const struct slab *s, const void *p, uint64_t *index);

/* A walk over all slabs of a heap, for operations that cannot use hints. */

struct walk {
	struct region *region;
	size_t index; /* of the chunk behind this chunk */
	struct chunk *chunk;
	unsigned unit;
};

static inline struct walk walk_from(struct heap *h)
{
	return (struct walk){region_first(h), 0, NULL, CHUNK_UNITS};
}

/*
 * Returns the next published slab, or NULL at the end.  On the way the walk mends each chunk's hint of free
 * units (chunk_mend), which a vanished thread may not have set.
 */
INTERNAL struct slab *walk_next(struct walk *w);

/*
 * A walk in steps: returns the first chunk with slabs behind the first *hand chunks, and sets *hand to count
 * that chunk, too.  Returns NULL if the next WALK_SKIP chunks have no slabs, or the walk has ended; then
 * *hand is 0.  Does not touch the chunks that it passes.
 */
#define WALK_SKIP 64
INTERNAL struct chunk *walk_chunk(struct heap *h, uint64_t *hand);

/*
 * Returns the first slab that begins in unit *unit of the chunk or behind that unit, and sets *unit to the
 * unit behind its beginning.  Returns NULL if there is no such slab.
 */
INTERNAL struct slab *walk_slab(struct chunk *c, unsigned *unit);

#endif

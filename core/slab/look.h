/* SPDX-License-Identifier: MIT */
/*
 * A look: what any thread may know of a slab while others allocate from it, release into
 * it, unmake it and make another one in its record.
 *
 *   made   size, slots, ...   remote word, free word   made again
 *     |                                                    |
 *     +--------- equal: all are of one slab ---------------+
 *
 * The record of an owner's slab that was unmade keeps its members, and all slots are free.
 * That of an unowned slab has 0 in all words then, see unowned.h.
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
	size_t slots; /* all of the word: in a file it may be anything */
	unsigned groups, class, units;
	uint32_t made;
	bool unowned;
};

/* The words of one group. */
struct look_group {
	uint64_t taken;   /* bit: the slot is taken                                        */
	uint64_t pending; /* bit: another thread released it, and it is not yet collected */
};

/* Begins a look.  Its members are those of one slab if look_at_group is true afterwards. */
INTERNAL struct look look_begin(const struct slab *s);

/*
 * True: the members are those of a slab that may begin in the unit.  fills: it may also have as many units
 * as its heap gives to a class that is filled (slab_fills).
 */
INTERNAL bool look_is_slab(const struct look *l, unsigned unit, bool fills);

/*
 * Reads the words of group g < groups.  False: the slab has gone, or one thread holds the
 * whole group of an unowned slab, which it is making or unmaking.  True: each bit was right
 * at some moment of this call.
 */
INTERNAL bool look_at_group(const struct look *l, unsigned g, struct look_group *out);

/*
 * Returns the size of the slot that starts at p in this slab, and its index; 0: there is none, or it is free.  For a
 * block that another thread may release, or has released: if the slab goes meanwhile, either answer is
 * possible, and the index is of a slot that the record may have, so its tag may be read.
 */
INTERNAL size_t look_at_slot(const struct slab *s, const void *p, uint64_t *index);

/* A walk over all slabs of a heap, for operations that cannot use hints. */

struct walk {
	struct region *region;
	size_t index; /* of the chunk after this one */
	struct chunk *chunk;
	unsigned unit;
};

static inline struct walk walk_from(struct heap *h)
{
	return (struct walk){region_first(h), 0, NULL, CHUNK_UNITS};
}

/*
 * The next slab that is published; NULL: the end.  On its way it mends each chunk's hint of free
 * units (chunk_mend), which a vanished thread may not have set yet.
 */
INTERNAL struct slab *walk_next(struct walk *w);

/*
 * A walk in steps: the chunk with slabs that follows *hand chunks, which then counts it.  NULL: the next WALK_SKIP chunks
 * have none, or the walk has ended; then *hand is 0.  What is passed over is not touched.
 */
#define WALK_SKIP 64
INTERNAL struct chunk *walk_chunk(struct heap *h, uint64_t *hand);

/*
 * Returns the first slab that begins in unit *unit of the chunk or behind it, and sets *unit to the unit behind its
 * beginning.  Returns NULL if there is no such slab.
 */
INTERNAL struct slab *walk_slab(struct chunk *c, unsigned *unit);

#endif

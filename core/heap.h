/* SPDX-License-Identifier: MIT */
/* A heap: what its regions and owners hang from. */
#ifndef CORE_HEAP_H
#define CORE_HEAP_H

#include "ashlar.h"
#include "atomic.h"
#include "class.h"

struct owner;

struct heap {
	struct region *regions; /* pushed, never taken off: records are for ever */
	struct owner *owners;	/* the same                                     */
	const struct ash_defaults *options;
	uint64_t *mark;	     /* wiped by fork, see fork.h; NULL: one owner so far */
	uint64_t generation; /* forks that were noticed                          */

	/* Written on slow paths by all threads, so not beside what they read. */
	_Alignas(CPU_LINE) uint64_t dirty; /* hint: units free and not clean     */
	uint64_t reserved;		   /* chunks of address space            */
	uint64_t refused;		   /* hint: units that could not be purged */
	_Alignas(CPU_LINE) struct slab *shared[CLASSES]; /* hint: nobody's slabs, see shared.h */
};

extern INTERNAL struct heap heap_default;

/* True: more free memory is dirty than the heap wants to keep. */
static inline bool heap_over(const struct heap *h)
{
	return load_relaxed(&h->dirty) > h->options->retain / UNIT_SIZE + load_relaxed(&h->refused);
}

/*
 * Gives memory back until at most `keep` bytes of what is free may still be
 * backed: whole chunks and free units, the newest regions and the highest
 * addresses first, as allocation prefers the lowest.  Returns the bytes.
 */
size_t heap_trim(struct heap *h, size_t keep);

/*
 * The rule of giving back.  Free memory stays as it is up to options.retain
 * bytes.  When it gets more, half of that stays and the rest goes, so that
 * each byte purged was dirtied since the last time, and a program that goes
 * to and fro below the limit never purges at all.  What the system refuses to
 * take (locked memory) is tried again only when as much again came free.
 */
static inline void heap_settle(struct heap *h)
{
	uint64_t half = h->options->retain / 2 / UNIT_SIZE, left;

	if (!heap_over(h))
		return;
	(void)heap_trim(h, h->options->retain / 2);
	left = load_relaxed(&h->dirty);
	store_relaxed(&h->refused, left > half ? left - half : 0);
}

static inline void heap_dirtied(struct heap *h, size_t units)
{
	fetch_add_relaxed(&h->dirty, units);
}

static inline void heap_cleaned(struct heap *h, size_t units)
{
	fetch_add_relaxed(&h->dirty, (uint64_t)0 - units);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Bins: the current slab of a class, which slots are taken from, and the spares.
 *
 *   partial list --bin_take--> current --bin_detach--> partial list, or no list if the slab is full
 *
 * A slot is taken from the lowest group that has a free slot, the lowest slot first.  So memory of a slab is first
 * touched when all slots below it are taken.
 *
 * All functions that do not say otherwise are for the holder of the record.
 */
#ifndef CORE_BIN_H
#define CORE_BIN_H

#include "chance.h"
#include "internal.h"
#include "thread/owner.h"

/*
 * Counts a slow operation of the holder on its heap's clock (backend/retain.h).  Threads share the clock: of those
 * beyond the heap's first one, whose record has no next, one operation in 16 counts, or the clock's line would go from
 * core to core with each of them.
 *
 * The fast paths do not count.  So while the clock runs, the record is watched: no slab stays current, and each
 * allocation takes a slow path, where it counts if a fast path released a slot since the last one.  So the clock
 * advances whatever the program does, and a program that allocates without releasing is not counted.  A thread learns of
 * it when it counts.
 */
INTERNAL void owner_count(struct owner *o);
/* After an allocation, while the record is watched. */
INTERNAL void bin_watched(struct owner *o, unsigned class);

/* The same for any thread, after it released a span of the default heap or made it smaller. */
INTERNAL void heap_count(void);

/* Takes the slot `bit` of group g, whose free word is `word`, of the current slab. */
static ALWAYS_INLINE char *slab_take_slot(struct slab *s, uint64_t g, uint64_t word, uint64_t bit)
{
	uint64_t rest = word & ~((uint64_t)1 << bit);

	/* In this order, see layout.h. */
	store_relaxed(&s->free[g], rest);
	signal_fence();
	if (rest == 0)
		slab_unready(s, g);
	return s->base + (g * GROUP_SLOTS + bit) * s->slot_size;
}

/*
 * Takes a slot of the bin's current slab; NULL: refill_bin has to look for one.  *clean: as in refill_slot.
 */
static ALWAYS_INLINE void *bin_slot(struct owner *o, const struct bin *b, bool *clean)
{
	struct slab *s = bin_slab(o, b);
	uint64_t word, bit, g;
	char *p;

	if (unlikely(s->ready == 0))
		return NULL;
	if (IS_HARDENED)
		chances_settle(&o->hardened->chances);
	g = IS_HARDENED ? bits_any(s->ready, chance_some(&o->hardened->chances)) : cpu_lowest_bit(s->ready);
	word = load_relaxed(&s->free[g]);
	if (unlikely(word == 0)) {
		slab_unready(s, g);
		return NULL;
	}
	*clean = !s->dirty;
	bit = IS_HARDENED ? bits_any(word, chance_some(&o->hardened->chances)) : cpu_lowest_bit(word);
	p = slab_take_slot(s, g, word, bit);
	if (p == NULL)
		__builtin_unreachable(); /* spares inlined callers a second test for NULL */
	return p;
}

/*
 * The short way of refill_bin: makes the first slab of the partial list current.  False: not possible, or the clock is
 * to be counted on.
 */
INTERNAL __attribute__((noinline)) bool bin_next(struct owner *o, struct bin *b);

/* Makes a slab current that is on no list, and of which slab_take returned true. */
INTERNAL void bin_take(struct owner *o, unsigned class, struct slab *s);

/* Sets whether releases notice that the current slab s becomes empty. */
static inline void bin_arm(const struct owner *o, struct slab *s)
{
	/* Small classes do not react to it, unless threads are many. */
	if ((s->slot_size <= SPARE_FREE && !is_crowd(o->heap)) || s->spare)
		s->all_free = 0;
	else if (s->all_free == 0) /* it was a spare, and then full */
		(void)slab_arm(s);
}

/* Moves the current slab, if there is one, to the partial list, or to no list if it is full.  A full slab is no spare. */
INTERNAL void bin_detach(struct owner *o, unsigned class);

/* A slab of so many units is taken from the partial list, which hand_opened (settle.h) may have counted. */
static inline void hand_closed(struct owner *o, unsigned units)
{
	o->opened = (uint8_t)(o->opened > units ? o->opened - units : 0);
}

/*
 * Takes the slab out of the spares, the set of empty slabs that the record caches (owner.spares,
 * slab.spare).  settle.h decides what becomes a spare.
 */
INTERNAL void spares_remove(struct owner *o, struct slab *s);

#endif

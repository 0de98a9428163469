/* SPDX-License-Identifier: MIT */
/*
 * Bins: the current slab of a class and the group of it that slots are taken from; how it is watched
 * while the clock runs; the spares.
 *
 *   list --bin_take--> current, group after group --bin_detach--> list
 *
 * All functions that do not say otherwise are for the holder of the record.
 */
#ifndef CORE_BIN_H
#define CORE_BIN_H

#include "chance.h"
#include "internal.h"
#include "thread/owner.h"

/*
 * Watching makes the retention clock (backend/retain.h) run although the fast paths do not
 * count.  While it runs, the group that a bin allocates from is not marked ready, so that
 * each release into it is an event (slab_has_event) and takes the slow path, which counts.
 *
 * A thread learns of it at its next slow operation (watch_check).
 *
 * All of this is a hint: what is missed is made up for by the next slow operation.
 */

/* Starts or stops watching.  For the holder. */
INTERNAL void watch_switch(struct owner *o, bool running);

/* After calls that may have started or stopped the clock.  For the holder of the record. */
INTERNAL void watch_check(struct owner *o);

/* Counts slow operations of the holder on its heap's clock. */
INTERNAL void watch_count(struct owner *o, uint64_t n);

static inline void group_unready(struct slab *s, unsigned g)
{
	store_relaxed(&s->ready, s->ready & ~((uint32_t)1 << g));
}

/* Clears the ready bit of a group that a bin allocates from, while watched.  For the holder. */
static inline void watch_group(struct owner *o, struct slab *s, unsigned g)
{
	if (unlikely(o->watch))
		group_unready(s, g);
}

/*
 * A release into the group that a bin allocates from is an event while the clock runs.  True: it was
 * stored, and nothing else is to be done, as for most.  One in OWN_EVENTS is false: it counts for
 * the others, and sees whether the slab got empty.  In a crowd each release that may empty the slab is false, as a
 * thread that sleeps then keeps it.  For the holder.
 */
#define OWN_EVENTS  16
#define EVENTS_STEP ((uint8_t)(256 / OWN_EVENTS)) /* added, so that 0 tells: fewer bytes */
static inline bool watch_give(struct owner *o, struct slab *s, uint64_t group, uint64_t word)
{
	if (!o->watch || (word == s->all_free && is_crowd(o->heap)) ||
	    bin_word(o, &o->bins[s->class]) != &s->free[group] ||
	    __builtin_add_overflow(o->events, EVENTS_STEP, &o->events))
		return false;
	store_relaxed(&s->dirty, s->dirty | (uint32_t)1 << group); /* the group is not ready */
	store_release(&s->free[group], word);
	return true;
}

/*
 * Counts a slow operation on the default heap's clock.  For any thread, after it released a
 * span or made one smaller.
 */
INTERNAL void watch_tick(void);

/* Counts a release into group g that was an event.  For the holder. */
INTERNAL void watch_event(struct owner *o, struct slab *s, unsigned g);

/* The lowest slot that is free by the word of the bin's group, which is not 0. */
static ALWAYS_INLINE char *bin_lowest(const struct bin *b, uint64_t word)
{
	return b->base + cpu_lowest_bit(word) * b->size;
}

/* Takes the lowest slot of the bin's group; NULL: none is free.  *clean: as in refill_slot. */
static ALWAYS_INLINE void *bin_slot(struct owner *o, const struct bin *b, bool *clean)
{
	uint64_t *at = bin_word(o, b), word = load_relaxed(at);
	char *p;

	if (unlikely(word == 0))
		return NULL;
	*clean = ((b->slab->dirty >> (at - b->slab->free)) & 1) == 0;
	if (IS_HARDENED) {
		uint64_t bit = bits_any(word, chance_some(&o->hardened->chances));

		p = b->base + bit * b->size;
		store_relaxed(at, word & ~((uint64_t)1 << bit));
	} else {
		p = bin_lowest(b, word);
		store_relaxed(at, bits_without_lowest(word));
	}
	if (p == NULL)
		__builtin_unreachable(); /* spares inlined callers a second test for NULL */
	return p;
}

/*
 * The short way of refill_slot, for an open seat that the caller closed: moves the bin to
 * the slab's next ready group.  False: not possible, or the clock may have to be counted on.
 */
INTERNAL bool bin_step(struct owner *o, struct bin *b);

/* Moves the bin to the next group of its slab that has a free slot.  False: none has. */
INTERNAL bool bin_next_group(struct owner *o, struct bin *b);

/* Makes a slab current that is on no list, and of which slab_take returned true. */
INTERNAL void bin_take(struct owner *o, unsigned class, struct slab *s);

/* Sets whether releases notice that the bin's current slab becomes empty. */
static inline void bin_watch(const struct owner *o, const struct bin *b)
{
	struct slab *s = b->slab;

	/* Small classes do not react to it, unless threads are many. */
	if ((b->size <= SPARE_FREE && !is_crowd(o->heap)) || s->spare)
		s->all_free = 0;
	else if (s->all_free == 0) /* it was a spare, and then full */
		(void)slab_arm(s);
}

/* Moves the current slab, if there is one, to the partial or full list.  A full one is no spare. */
INTERNAL void bin_detach(struct owner *o, unsigned class);

/*
 * Takes the slab out of the spares, the set of empty slabs that the record caches (owner.spares,
 * slab.spare).  settle.h decides what becomes a spare.
 */
INTERNAL void spares_remove(struct owner *o, struct slab *s);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Watching makes the retention clock (backend/retain.h) run although the fast paths do not
 * count.  While it runs, the group that a bin allocates from is not marked ready, so that
 * each release into it is an event (slab_has_event) and takes the slow path, which counts.
 *
 * A thread learns of it at its next slow operation (watch_check).
 *
 * All of this is a hint: what is missed is made up for by the next slow operation.
 */
#ifndef CORE_WATCH_H
#define CORE_WATCH_H

#include "internal.h"
#include "thread/owner.h"

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
 * the others, and sees whether the slab got empty.  For the holder.
 */
#define OWN_EVENTS  16
#define EVENTS_STEP ((uint8_t)(256 / OWN_EVENTS)) /* added, so that 0 tells: fewer bytes */
static inline bool watch_give(struct owner *o, struct slab *s, uint64_t group, uint64_t word)
{
	if (!o->watch ||
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

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Watching, so that the clock of retain.h runs: while it does, the group that a
 * bin allocates from is not marked ready.
 *
 *   owner.watch   WATCH_NONE      as always
 *                 WATCH_ALL       none of the bins' groups is ready
 *                 WATCH_TOLD      somebody started the clock, and put the pending
 *                                 mark on the slabs of this owner's bins: its next
 *                                 release into one of them is slow
 *
 * Hints, all of it: what is missed costs time until the next slow operation.
 */
#ifndef CORE_WATCH_H
#define CORE_WATCH_H

#include "thread/owner.h"

/* The owner learns that the clock runs at its next release, if it does nothing slow itself. */
void watch_tell_one(struct owner *v);

void watch_change(struct owner *o, bool running);

/*
 * The clock started, or a period of it began: the other owners learn of it.  A thread
 * that is in a call of the default heap heeds it at the end of that call.
 */
void watch_tell_all(struct heap *h);

/* After retain_tick, for the holder of the record. */
static inline void watch_heed(struct owner *o, bool running)
{
	if (unlikely(load_relaxed(&o->heap->running) == CLOCK_UNTOLD))
		watch_tell_all(o->heap);
	_Static_assert(WATCH_NONE == (int)false && WATCH_ALL == (int)true, "compared");
	if (unlikely(load_relaxed(&o->watch) != running))
		watch_change(o, running);
}

/* The same where the clock may have been started by something within. */
static inline void watch_look(struct owner *o)
{
	watch_heed(o, load_relaxed(&o->heap->running) != 0);
}

/* The group is the current one of the slab's bin from now on, or again: not ready. */
static inline void watch_group(struct owner *o, struct slab *s, unsigned g)
{
	if (unlikely(load_relaxed(&o->watch) != WATCH_NONE))
		store_relaxed(&s->ready, s->ready & ~((uint32_t)1 << g));
}

/* The calling thread released large memory of the default heap, or shrank it: a slow operation. */
void owner_ticks(void);

/* A slot of the group was released, which was an event. */
void watch_event(struct owner *o, struct slab *s, unsigned g);

#endif

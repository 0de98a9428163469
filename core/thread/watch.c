/* SPDX-License-Identifier: MIT */
#include "thread/watch.h"

#include "backend/retain.h"
#include "thread/inbox.h"
#include "thread/seat.h"

#define TOGETHER 16   /* events that are counted at once: the clock is everybody's  */
#define STRAYS	 1024 /* the same of others, while no slab of the owner gets empty    */

/* The mark, and the letter that belongs to it: releases by others rely on both. */
static void mark(struct slab *s)
{
	uint64_t owner = load_relaxed(&s->owner);

	if ((owner & OWNER_PENDING) != 0 || owner <= OWNER_MARKS)
		return;
	owner = fetch_or_seq_cst(&s->owner, OWNER_PENDING);
	/* Another slab by now, or nobody's: a mark too many. */
	if ((owner & OWNER_PENDING) == 0 && owner > OWNER_MARKS)
		owner_notify((struct owner *)(uintptr_t)owner, s);
}

void watch_tell_one(struct owner *v)
{
	struct slab *s;
	unsigned class;

	if (load_relaxed(&v->watch) != WATCH_NONE || load_relaxed(&v->state) == OWNER_VACANT)
		return;
	/* First this: a bin that moves on meanwhile finds it. */
	store_relaxed(&v->watch, WATCH_TOLD);
	for (class = 0; class < CLASSES; class++) {
		/* It may go at any time; its record stays one. */
		s = load_relaxed(&v->bins[class].slab);
		if (s != NULL)
			mark(s);
	}
}

void watch_tell_all(struct heap *h)
{
	uint64_t untold = CLOCK_UNTOLD;
	struct owner *v;

	/* One thread tells.  The clock may have been stopped meanwhile, which nobody need learn. */
	if (!cas_acquire(&h->running, &untold, CLOCK_RUNS))
		return;
	/* The records of others are theirs in a heap that processes share. */
	if (h->sharing != PAGES_PRIVATE)
		return;
	for (v = load_acquire(&h->owners); v != NULL; v = v->next)
		if (v != seat.self || seat.open != 0)
			watch_tell_one(v);
}

static void watch_all(struct owner *o)
{
	unsigned class;

	store_relaxed(&o->watch, WATCH_ALL);
	for (class = 0; class < CLASSES; class++) {
		struct slab *s = o->bins[class].slab;

		if (s != NULL)
			watch_group(o, s, (unsigned)(bin_word(o, &o->bins[class]) - s->free));
	}
}

void watch_change(struct owner *o, bool running)
{
	if (running)
		watch_all(o);
	else
		store_relaxed(&o->watch, WATCH_NONE);
}

/*
 * Releases into other groups count only while they empty no slab: who releases all
 * of a peak must not have the first of it purged before the last is released.
 */
void watch_event(struct owner *o, struct slab *s, unsigned g)
{
	const struct bin *b = &o->bins[load_relaxed(&s->class)];
	uint64_t ticks = 0;

	if (load_relaxed(&o->watch) != WATCH_ALL)
		ticks = 1;
	/* The slab may be gone by now; then it is nobody's current one. */
	if (bin_word(o, b) == &s->free[g]) {
		watch_group(o, s, g);
		if (++o->events % TOGETHER == 0)
			ticks = TOGETHER;
	} else if (++o->strays % STRAYS == 0) {
		ticks = STRAYS;
	}
	if (ticks != 0)
		watch_heed(o, retain_tick(o->heap, ticks));
}

void owner_ticks(void)
{
	bool running = retain_tick(&heap_default, 1);

	if (seat.open == 0) {
		/* It was interrupted in a call that may be a fast one; or comes too early (prereloc.h). */
		if (!SEAT_MAY_BE_NULL || seat.self != NULL)
			watch_tell_one(seat.self);
		if (running)
			watch_tell_all(&heap_default);
		return;
	}
	seat_close();
	watch_heed(seat.self, running);
	seat_give();
}

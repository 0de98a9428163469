/* SPDX-License-Identifier: MIT */
#include "thread/watch.h"

#include "backend/retain.h"
#include "thread/inbox.h"
#include "thread/seat.h"

/* All threads share the clock.  So they count on it in batches: of these sizes, and OWN_EVENTS. */
#define OTHERS_TICK  16	  /* calls of watch_count by threads beyond the heap's first one  */
#define OTHER_EVENTS 1024 /* into other groups, while no slab of the owner becomes empty */

void watch_notify(struct owner *v)
{
	struct slab *s;
	unsigned class;

	if (load_relaxed(&v->watch) != WATCH_NONE || load_relaxed(&v->state) == OWNER_VACANT)
		return;
	/*
	 * Before the slabs are read, so that a bin that changes its slab meanwhile mostly sees
	 * this.  Relaxed: it may miss it, as all of this is a hint.
	 */
	store_relaxed(&v->watch, WATCH_NOTIFIED);
	for (class = 0; class < CLASSES; class++) {
		/* The slab may be unmade at any time, but its record remains a slab record.  Pairs with bin_take. */
		s = load_dependent(&v->bins[class].slab);
		if (s != NULL)
			inbox_notify(s); /* releases by others rely on bit and entry */
	}
}

#define NOTIFY_BATCH 32 /* owners that one call notifies, at some 1200 instructions each */

/* Not inlined: seldom called, and from the hot watch_check. */
__attribute__((noinline)) void watch_notify_some(struct heap *h)
{
	uint64_t next = load_relaxed(&h->running);
	unsigned batch = NOTIFY_BATCH;
	struct owner *v;

	/* One thread at a time notifies.  If the clock was stopped meanwhile, no notice is needed. */
	if (!CLOCK_NOTIFIES(next) || !cas_acquire(&h->running, &next, CLOCK_RUNS))
		return;
	/* In a heap shared by processes, records of other threads are not touched. */
	if (h->sharing != PAGES_PRIVATE)
		return;
	v = next == CLOCK_UNNOTIFIED ? load_acquire(&h->owners) : (struct owner *)next;
	for (; v != NULL; v = v->next) {
		if (batch-- == 0) {
			/*
			 * The next slow operation of any thread goes on.  Release: pairs with the
			 * compare-and-swap above, so that the record is there.  A store: if the clock was
			 * stopped or started meanwhile, the next tick, or period, makes up for it.
			 */
			store_release(&h->running, (uint64_t)(uintptr_t)v);
			return;
		}
		watch_notify(v);
	}
}

static void watch_all(struct owner *o)
{
	unsigned class;

	store_relaxed(&o->watch, WATCH_ALL);
	for (class = 0; class < CLASSES; class++) {
		struct slab *s = o->bins[class].slab;

		if (s != NULL)
			group_unready(s, (unsigned)(bin_word(o, &o->bins[class]) - s->free));
	}
}

void watch_switch(struct owner *o, bool running)
{
	if (running)
		watch_all(o);
	else
		store_relaxed(&o->watch, WATCH_NONE);
}

void watch_check(struct owner *o)
{
	struct heap *h = o->heap;
	uint64_t now = load_relaxed(&h->running);
	bool running = now != 0;

	_Static_assert(WATCH_NONE == (int)false && WATCH_ALL == (int)true, "compared");
	if (unlikely(load_relaxed(&o->watch) != running))
		watch_switch(o, running);
	if (unlikely(CLOCK_NOTIFIES(now))) /* after o watches: that record is left out */
		watch_notify_some(h);
}

/*
 * Threads share the clock, but each takes back what it released in a time of its own.  So
 * operations of those beyond the heap's first one (its record has no next) count less: one in
 * OTHERS_TICK, or the clock's line would go from core to core with each of them.
 */
void watch_count(struct owner *o, uint64_t n)
{
	if (o->next == NULL || ++o->ticks % OTHERS_TICK == 0)
		retain_tick(o->heap, n);
	watch_check(o);
}

/*
 * Releases into other groups count only while no slab becomes empty by them: if a program
 * releases all of a peak, the first part must not be purged before the last is released.
 */
void watch_event(struct owner *o, struct slab *s, unsigned g)
{
	const struct bin *b = &o->bins[load_relaxed(&s->class)];
	uint64_t ticks = 0;

	if (load_relaxed(&o->watch) != WATCH_ALL)
		ticks = 1;
	/* The slab may have been unmade by now; then it is not current in any bin. */
	if (bin_word(o, b) == &s->free[g]) {
		group_unready(s, g); /* watched; or one event in 64, which costs it another */
		if ((o->events += EVENTS_STEP) == EVENTS_STEP) /* it was 0: watch_give */
			ticks = OWN_EVENTS;
	} else if (++o->other_events % OTHER_EVENTS == 0) {
		ticks = OTHER_EVENTS;
	}
	if (ticks != 0)
		watch_count(o, ticks);
}

void watch_tick(void)
{
	retain_tick(&heap_default, 1);
	if (!SEATED)
		return;
	if (seat.open == 0) {
		/*
		 * This call interrupted another one, which may stay on its fast path; or there
		 * is no seat yet (prereloc.h).
		 */
		if (!SEAT_MAY_BE_NULL || seat.self != NULL)
			watch_notify(seat.self);
		watch_notify_some(&heap_default);
		return;
	}
	seat_close();
	watch_check(seat.self);
	seat_open();
}

/* SPDX-License-Identifier: MIT */
#include "thread/watch.h"

#include "backend/retain.h"
#include "thread/seat.h"

/* All threads share the clock.  So they count on it in batches: of these sizes, and OWN_EVENTS. */
#define OTHERS_TICK  16	  /* calls of watch_count by threads beyond the heap's first one  */
#define OTHER_EVENTS 1024 /* into other groups, while no slab of the owner becomes empty */

static void watch_all(struct owner *o)
{
	unsigned class;

	o->watch = true;
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
		o->watch = false;
}

void watch_check(struct owner *o)
{
	bool running = load_relaxed(&o->heap->running) != 0;

	if (unlikely(o->watch != running))
		watch_switch(o, running);
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
 * releases all of a peak that comes again, the first part must not be purged before the last is
 * released.
 */
void watch_event(struct owner *o, struct slab *s, unsigned g)
{
	const struct bin *b = &o->bins[load_relaxed(&s->class)];
	uint64_t ticks = !o->watch;

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
	/* A closed seat: this call interrupted another one; or there is no seat yet (prereloc.h). */
	if (!SEATED || seat.open == 0)
		return;
	seat_close();
	watch_check(seat.self);
	seat_open();
}

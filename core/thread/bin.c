/* SPDX-License-Identifier: MIT */
#include "thread/bin.h"

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

/*
 * Moves the bin to group g of its slab; returns the group's first slot: with a constant as the result bin_turn
 * would not end in a jump.
 */
static char *bin_point(struct owner *o, struct bin *b, unsigned g)
{
	struct slab *s = b->slab;

	watch_group(o, s, g);
	b->word = (uintptr_t)&s->free[g] - (uintptr_t)o;
	return b->base = s->base + (size_t)g * GROUP_SLOTS * s->slot_size;
}

/*
 * Moves the bin to the next ready group that has a free slot, in turn, so that slots have
 * been released into a group by the time it is next.  NULL: none has; then
 * no group is ready.
 */
static char *bin_turn(struct owner *o, struct bin *b)
{
	struct slab *s = b->slab;
	uint32_t ready = s->ready;

	/* Hardened products take untouched groups before the others, so that slots come from all of a slab. */
	if (IS_HARDENED && s->opened < s->groups)
		return bin_point(o, b, s->opened++);
	/* `found` is not touched in a slab without ready groups: the chunk's last one is on a page of its own. */
	if (ready == 0)
		return NULL;
	if ((s->found & ready) == 0)
		s->found = slab_free_groups(s);
	ready &= s->found;
	s->found -= ready & -ready; /* the lowest */
	if (ready != 0)
		return bin_point(o, b, bits_lowest(ready));
	store_relaxed(&s->ready, (uint32_t)0);
	return NULL;
}

bool bin_step(struct owner *o, struct bin *b)
{
	bool found;

	/* One in 64 goes the long way, which starts the clock if it is due. */
	if (b->slab == NULL || o->watch || owner_is_counted(o))
		return false;
	owner_begin(o);
	found = bin_turn(o, b) != NULL;
	owner_end(o);
	return found;
}

bool bin_next_group(struct owner *o, struct bin *b)
{
	struct slab *s = b->slab;
	uint64_t *at = bin_word(o, b);

	/*
	 * A slab that is just full comes to have one ready group, the bin's: then each release
	 * into another one is an event, and the bin follows it (settle_freed).  Not at each
	 * step: that would be an event more for nearly each.
	 */
	if (load_relaxed(at) == 0)
		group_unready(s, (unsigned)(at - s->free));
	/*
	 * Untouched groups come last, after remote bits: memory is first touched only if
	 * there is nothing else.
	 */
	do
		if (bin_turn(o, b) != NULL)
			return true;
	while ((load_relaxed(&s->owner) & OWNER_PENDING) != 0 && slab_collect(s, false));
	if (s->opened == s->groups)
		return false;
	(void)bin_point(o, b, s->opened++);
	return true;
}

void bin_detach(struct owner *o, unsigned class)
{
	struct bin *b = &o->bins[class];
	struct slabs *l = &b->full;
	struct slab *s = b->slab;
	uint64_t *at = bin_word(o, b);

	if (s == NULL)
		return;
	/*
	 * If slots are left in the bin's group, and nothing was released into it, it is the last
	 * one opened.  It becomes untouched again, so that these slots stay clean.
	 */
	if (load_relaxed(at) != 0) {
		unsigned g = (unsigned)(at - s->free);

		if (((s->dirty >> g) & 1) == 0)
			s->opened = g;
		else
			store_relaxed(&s->ready, s->ready | (uint32_t)1 << g);
	}
	b->slab = NULL;
	b->word = 0;
	slab_let_go(s);
	if (slab_is_ready(s)) {
		l = &b->partial;
		if (!s->spare) /* slab_arm is not for spares; a full slab waits for settle_slab */
			(void)slab_arm(s);
	} else if (s->spare) {
		spares_remove(o, s);
	}
	slabs_append(l, s);
}

void bin_take(struct owner *o, unsigned class, struct slab *s)
{
	struct bin *b = &o->bins[class];

	if (!SMALL)
		store_relaxed(&s->purged, (uint8_t)0); /* before a slot is taken */
	b->slab = s;
	b->size = s->slot_size;
	b->word = (uintptr_t)s->free - (uintptr_t)o;
	(void)bin_next_group(o, b); /* if it finds no slot, refill_slot calls refill_bin again */
	bin_watch(o, b);
}

/* Not inlined, as slab_open: four callers, and pages of code count. */
__attribute__((noinline)) void spares_remove(struct owner *o, struct slab *s)
{
	size_t place = s->spare;

	s->spare = 0;
	o->spare_units = (uint16_t)(o->spare_units - SPARE_WEIGHT(s->units));
	o->spares[place - 1] = NULL;
	if (o->large[s->units] >> place & 1) /* mostly not, and then its page is not written */
		o->large[s->units] -= (uint32_t)1 << place;
}

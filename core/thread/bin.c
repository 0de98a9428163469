/* SPDX-License-Identifier: MIT */
#include "thread/bin.h"

#include "backend/retain.h"
#include "thread/seat.h"

#define TICK 16 /* see owner_count */

/* Sets whether the record is watched, that is, whether the heap's clock runs. */
static void owner_watch(struct owner *o)
{
	bool runs = load_relaxed(&o->heap->running) != 0;
	unsigned class;

	if (likely(o->watched == runs))
		return;
	o->watched = runs;
	for (class = 0; runs && class < CLASSES; class++)
		if (o->bins[class].slab != 0)
			bin_detach(o, class);
}

static void owner_tick(struct owner *o)
{
	bool first = o->next == NULL;

	if (++o->ticks % TICK == 0)
		retain_tick(o->heap, first ? TICK : 1);
	else if (first && unlikely(load_relaxed(&o->heap->due_at) != 0))
		retain_tick(o->heap, 0); /* a part of the due memory goes at each operation */
}

void owner_count(struct owner *o)
{
	owner_tick(o);
	owner_watch(o);
}

void bin_watched(struct owner *o, unsigned class)
{
	bool again = seat.latest != NULL;

	seat.latest = NULL;
	bin_detach(o, class);
	if (again)
		owner_tick(o);
	owner_watch(o);
}

void heap_count(void)
{
	retain_tick(&heap_default, 1);
	/* The seat is closed if this call interrupted another call, or if there is no seat yet (prereloc.h). */
	if (seat.open == 0)
		return;
	seat_close();
	owner_begin(seat.self);
	owner_watch(seat.self);
	owner_end(seat.self);
	seat_open();
}

bool bin_next(struct owner *o, struct bin *b)
{
	struct slab *s = b->partial.head;

	if (s == NULL || s->spare || o->watched || owner_is_counted(o) || !slab_take(s))
		return false;
	owner_begin(o);
	slabs_remove(&b->partial, s);
	hand_closed(o, s->units);
	bin_detach(o, s->class);
	bin_take(o, s->class, s);
	owner_end(o);
	return true;
}

void bin_detach(struct owner *o, unsigned class)
{
	struct bin *b = &o->bins[class];
	struct slab *s = bin_slab(o, b);

	if (b->slab == 0)
		return;
	b->slab = 0;
	slab_let_go(s);
	if (slab_is_ready(s)) {
		if (!s->spare) /* slab_arm is not for spares; a full slab waits for settle_slab */
			(void)slab_arm(s);
		slabs_append(&b->partial, s);
	} else if (s->spare) {
		spares_remove(o, s);
	}
}

void *bin_pass(struct owner *o, unsigned class, bool *clean)
{
	struct bin *b = &o->bins[class];
	struct slab *s = b->partial.head;
	uint64_t word, g;
	void *p = NULL;

	if (s != NULL && s->spare)
		s = s->next;
	if (s == NULL || s->spare || !slab_take(s)) /* a full slab is no spare, see bin_detach */
		return NULL;
	slab_resumes(o, s);
	g = group_choose(o, s->ready);
	word = slab_ready_word(s, g);
	if (likely(word != 0)) {
		*clean = !s->dirty;
		p = slab_take_slot(s, g, word, slot_choose(o, word));
	}
	if (!slab_is_ready(s)) {
		slabs_remove(&b->partial, s);
		hand_closed(o, s->units);
	}
	slab_let_go(s);
	return p;
}

void bin_take(struct owner *o, unsigned class, struct slab *s)
{
	o->bins[class].slab = (uintptr_t)s - (uintptr_t)o;
	bin_arm(o, s);
	slab_resumes(o, s);
}

/* Not inlined, because there are four callers and pages of code count. */
__attribute__((noinline)) void spares_remove(struct owner *o, struct slab *s)
{
	size_t place = s->spare;

	s->spare = 0;
	o->spare_units = (uint16_t)(o->spare_units - SPARE_WEIGHT(s->units));
	o->spares[place - 1] = NULL;
	if (o->large[s->class] >> place & 1) /* mostly not set: then the page of `large` is not written */
		o->large[s->class] -= (uint32_t)1 << place;
}

/* SPDX-License-Identifier: MIT */
#include "store/recover/holds.h"

#include "store/recover/census.h"

INTERNAL THREAD_LOCAL uint64_t *holds_mine;

/* ---- which holds overlap ---- */

static uint64_t hold_kind(uint64_t hold)
{
	return hold & HOLD_KIND;
}

static uint64_t hold_at(uint64_t hold)
{
	return hold >> HOLD_AT & (((uint64_t)1 << HOLD_AT_BITS) - 1);
}

/*
 * hold_first returns the first unit, hold_count the number of units.  For a slot this is the unit in which the slab
 * begins.
 */
static uint64_t hold_first(uint64_t hold)
{
	return hold >> HOLD_MORE & (((uint64_t)1 << HOLD_PLACE) - 1);
}

static uint64_t hold_count(uint64_t hold)
{
	return hold_kind(hold) == HOLD_UNITS ? hold >> (HOLD_MORE + HOLD_PLACE) : 1;
}

static uint64_t hold_length(uint64_t hold)
{
	return hold_kind(hold) == HOLD_CHUNKS ? hold >> HOLD_MORE : 1;
}

static bool overlap(uint64_t a, uint64_t as_many, uint64_t b, uint64_t so_many)
{
	return a < b + so_many && b < a + as_many;
}

bool hold_overlaps(uint64_t a, uint64_t b)
{
	if (a == 0 || b == 0)
		return false;
	if (a == b || a == HOLD_ALL || b == HOLD_ALL)
		return true;
	if (hold_kind(a) == HOLD_RECORD || hold_kind(b) == HOLD_RECORD ||
	    !overlap(hold_at(a), hold_length(a), hold_at(b), hold_length(b)))
		return false;
	if (hold_kind(a) == HOLD_CHUNKS || hold_kind(b) == HOLD_CHUNKS)
		return true;
	/* Two slots overlap only if they are equal. */
	return hold_kind(a) + hold_kind(b) != 2 * HOLD_SLOT &&
	       overlap(hold_first(a), hold_count(a), hold_first(b), hold_count(b));
}

/* ---- for builders ---- */

/* Notes the hold.  Returns the place, or NULL if no place is free. */
static uint64_t *note(struct store *s, uint64_t what)
{
	uint64_t *holds = holds_mine, *place = NULL, suspect;
	unsigned i;

	/* A handler that interrupts this and uses the place has emptied the place when it returns. */
	for (i = 0; holds != NULL && i < HOLD_PLACES && place == NULL; i++)
		if (load_relaxed(&holds[i]) == 0)
			place = &holds[i];
	/* Pairs with is_held: a thread that sees the hold sees that the builder lives. */
	if (holds != NULL)
		store_release(place != NULL ? place : &holds[HOLD_PLACES - 1], place != NULL ? what : HOLD_ALL);
	fence_seq_cst(); /* pairs with that of suspicion_begin */
	suspect = load_relaxed(&s->suspect);
	if (unlikely(suspect != 0) && hold_overlaps(what, suspect))
		(void)cas_acq_rel(&s->suspect, &suspect, 0); /* ordered by the fence */
	/* Pairs with suspicion_stands: a thread that sees that memory is taken sees the suspicion spoilt. */
	fence_release();
	return place;
}

void holds_note(struct heap *h, uint64_t what, bool notes)
{
	uint64_t *holds = holds_mine;
	unsigned i;

	if (notes) {
		(void)note(store_of(h), what);
		return;
	}
	/* Of two equal holds either will do: the hold of an interrupted call stays. */
	for (i = 0; holds != NULL && i < HOLD_PLACES; i++)
		if (load_relaxed(&holds[i]) == what) {
			store_release(&holds[i], 0); /* pairs with is_held: returned memory is seen */
			return;
		}
}

unsigned holds_used(const uint64_t *holds)
{
	unsigned i, used = 0;

	for (i = 0; i < HOLD_PLACES; i++)
		used |= (unsigned)(load_relaxed(&holds[i]) != 0) << i;
	return used;
}

void holds_drop(uint64_t *holds, unsigned kept)
{
	unsigned i;

	/* Most sections take nothing.  Written out, because this file is compiled for size. */
	_Static_assert(HOLD_PLACES == 7, "all places");
	if (likely((load_relaxed(&holds[0]) | load_relaxed(&holds[1]) | load_relaxed(&holds[2]) |
		    load_relaxed(&holds[3]) | load_relaxed(&holds[4]) | load_relaxed(&holds[5]) |
		    load_relaxed(&holds[6])) == 0))
		return;
	for (i = 0; i < HOLD_PLACES; i++)
		if ((kept >> i & 1) == 0 && load_relaxed(&holds[i]) != 0)
			store_release(&holds[i], 0); /* pairs with is_held */
}

/* ---- for a search ---- */

/* Returns whether one of these holds overlaps, except the hold at `mine`. */
static bool is_among(const uint64_t *holds, uint64_t what, const uint64_t *mine)
{
	unsigned i;

	/* Pairs with note, and with the stores that drop holds. */
	for (i = 0; i < HOLD_PLACES; i++)
		if (&holds[i] != mine && hold_overlaps(load_acquire(&holds[i]), what))
			return true;
	return false;
}

/* Returns whether a living builder holds the memory, except the caller at `mine`. */
static bool is_held(struct store *s, uint64_t what, const uint64_t *mine)
{
	struct owner *o;
	uint64_t state;
	unsigned i;

	/* The holds of a thread in the crowd are unknown. */
	if (load_acquire(&s->crowd) != 0) /* pairs with building_begin and building_end */
		return true;
	for (i = 0; i < STRANGERS; i++) {
		struct stranger *t = store_stranger(s, i);
		uint64_t life;

		/* The holds are read first: the life was stored before the thread noted a hold. */
		if (!is_among(t->holds, what, mine))
			continue;
		life = load_acquire(&t->life); /* pairs with building_end */
		if (life != 0 && !lives_thread_is_over(s, life))
			return true;
	}
	for (o = store_owner_after(&s->heap, NULL); o != NULL; o = store_owner_after(&s->heap, o)) {
		if (!is_among(holds_of(o), what, mine))
			continue;
		state = load_acquire(&o->state); /* pairs with owner_hold_as */
		if (state != OWNER_VACANT && !lives_thread_is_over(s, state >> OWNER_THREAD))
			return true;
	}
	return false;
}

bool suspicion_begin(struct suspicion *p, struct store *s, uint64_t what)
{
	*p = (struct suspicion){s, what, note(s, what)};
	if (p->mine != NULL && !is_held(s, what, p->mine)) {
		store_relaxed(&s->suspect, what);
		fence_seq_cst(); /* pairs with that of note */
		if (!is_held(s, what, p->mine))
			return true;
	}
	suspicion_end(p);
	return false;
}

bool suspicion_stands(const struct suspicion *p)
{
	/* Pairs with note: the memory was looked at before. */
	fence_acquire();
	return load_relaxed(&p->store->suspect) == p->what;
}

void suspicion_end(struct suspicion *p)
{
	uint64_t what = p->what;

	(void)cas_acq_rel(&p->store->suspect, &what, 0); /* pairs with nothing: the answer is known */
	if (p->mine != NULL && load_relaxed(p->mine) == p->what)
		store_release(p->mine, 0); /* pairs with is_held */
}

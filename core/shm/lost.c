/* SPDX-License-Identifier: MIT */
#include "shm/lost.h"

#include "ashlar.h"
#include "shm/building.h"
#include "shm/census.h"
#include "shm/recover.h"
#include "backend/region.h"
#include "shm/seats.h"
#include "front/span.h"

/* The units of a slab chunk that are neither free nor a slab's. */
static uint64_t lost_units(struct chunk *c)
{
	uint64_t used = load_acquire(&c->units);
	unsigned u;

	for (u = 0; u < CHUNK_UNITS; u++) {
		uint32_t place = load_acquire(&c->head[u]);
		/* A slab's first unit is entered last and taken out first. */
		if (place != 0 && load_acquire(&c->head[record_unit(place)]) == place)
			used |= (uint64_t)1 << u;
	}
	return ~used;
}

static void give_units(struct heap *h, struct chunk *c, uint64_t lost)
{
	while (lost != 0) {
		struct units u = {c, bits_lowest(lost), 1, false};

		store_release(&c->head[u.first], (uint32_t)0);
		units_give(h, u);
		lost = bits_without_lowest(lost);
	}
}

/* Slots of a unowned slab that are taken and were never handed out. */
static void give_slots(struct slab *s, unsigned group, uint64_t lost)
{
	fetch_or_release(&s->free[group], lost);
}

static uint64_t lost_slots(const struct slab *s, unsigned group)
{
	uint64_t taken = slab_group_mask(s, group) & ~load_acquire(&s->free[group]), lost = 0;

	for (; taken != 0; taken = bits_without_lowest(taken)) {
		unsigned bit = bits_lowest(taken);

		if (load_relaxed(census_tag(s, group * GROUP_SLOTS + bit)) == TAG_NONE)
			lost |= (uint64_t)1 << bit;
	}
	return lost;
}

/*
 * A look at one thing.  What is lost stays lost until it is given back, so the
 * first look needs no quiet; only what it suspects is looked at again, in
 * moments that are.
 */
struct look {
	struct store *s;
	uint64_t sum;
	bool calm;	/* nobody was building when this look began */
	bool disturbed; /* it found something, and does not know    */
};

/* True: what was just seen to be lost is lost. */
static bool look_holds(struct look *l)
{
	uint64_t sum;

	/* What was looked at before, and then the counters: see building_begin. */
	fence_acquire();
	if (!l->calm || !building_quiet(l->s, &sum) || sum != l->sum)
		l->disturbed = true;
	return !l->disturbed;
}

static void look_at_slab(struct look *l, struct slab *s)
{
	unsigned g;

	if ((load_acquire(&s->owner) & OWNER_UNOWNED) == 0)
		return;
	if ((load_relaxed(&s->owner) & OWNER_CHANGING) != 0 && look_holds(l))
		fetch_and_acq_rel(&s->owner, ~OWNER_CHANGING);
	for (g = 0; g < load_relaxed(&s->groups); g++) {
		uint64_t lost = lost_slots(s, g);

		if (lost != 0 && look_holds(l))
			give_slots(s, g, lost);
	}
}

/* Chunk i of the region; returns how many chunks were looked at. */
static size_t look_at_chunk(struct look *l, struct region *r, size_t i)
{
	struct heap *h = &l->s->heap;
	struct run run = {r, i};
	struct chunk *c = region_chunk(r, i);
	struct slab *s;
	size_t n = 1;
	uint64_t lost;
	unsigned u;

	if (bits_all(r->free, i, 1))
		return n;
	if (chunk_is(c, CHUNK_SPAN)) {
		n = load_relaxed(&c->span_chunks);
		if (load_relaxed(&c->clean) == TAG_NONE && look_holds(l))
			(void)span_release(c, c->base);
	} else if (chunk_is(c, CHUNK_SLABS)) {
		lost = lost_units(c);
		if (lost != 0 && look_holds(l))
			give_units(h, c, lost);
		for (u = 0; u < CHUNK_UNITS; u++)
			if ((s = slab_beginning(c, u)) != NULL)
				look_at_slab(l, s);
		chunk_mend(h, c);
	} else if (look_holds(l)) {
		heap_dirtied(h, CHUNK_UNITS);
		region_give(run, 1, false);
	}
	return n;
}

/* Records that were taken and never entered: their makers died over it. */
static void look_at_records(struct look *l)
{
	struct heap *h = &l->s->heap;
	uint64_t used = load_acquire(&l->s->records_used), entered = 0, i;
	struct owner *o;

	for (o = load_acquire(&h->owners); o != NULL; o = o->next)
		entered++;
	if (entered == used)
		return;
	for (i = 0; i < used; i++) {
		struct owner *r = (struct owner *)(void *)(l->s->records + i * OWNER_BYTES);

		for (o = load_acquire(&h->owners); o != NULL && o != r; o = o->next)
			;
		if (o == NULL && look_holds(l)) {
			owner_reset(r);
			owner_enter(h, r, OWNER_VACANT);
		}
	}
}

/* The dead have counted and not done, or done and not counted. */
static void recount(struct look *l)
{
	struct heap *h = &l->s->heap;
	uint64_t before = load_relaxed(&h->dirty);
	struct ash_stats st;

	heap_stats(h, &st);
	if (st.dirty >> UNIT_SHIFT != before && look_holds(l))
		fetch_add_relaxed(&h->dirty, (st.dirty >> UNIT_SHIFT) - before);
}

enum { ATTEMPTS = 32 };

/* The first attempt is no calm one: it is enough where nothing is lost. */
static void look_begin(struct look *l, unsigned attempt)
{
	l->disturbed = false;
	l->calm = attempt > 0 && building_quiet(l->s, &l->sum);
}

/* True: all that was lost before is back. */
static bool look(struct store *s)
{
	struct look l = {s, 0, false, true};
	struct region *r = load_acquire(&s->heap.regions);
	bool all = true;
	unsigned attempt;
	size_t i, n = 1;

	for (i = 0; i < load_relaxed(&r->chunks); i += n) {
		for (attempt = 0, l.disturbed = true; attempt < ATTEMPTS && l.disturbed; attempt++) {
			look_begin(&l, attempt);
			n = look_at_chunk(&l, r, i);
		}
		all = all && !l.disturbed;
	}
	for (attempt = 0, l.disturbed = true; attempt < ATTEMPTS && l.disturbed; attempt++) {
		look_begin(&l, attempt);
		look_at_records(&l);
		recount(&l);
	}
	return all && !l.disturbed;
}

void lost_look(struct store *s)
{
	uint64_t me = seats_life(&s->heap), who = load_acquire(&s->recoverer), lost;

	/* Ourselves: we are a handler that interrupted a look. */
	if (me == 0 || who == me || (who != 0 && !recover_thread_is_over(s, who)) ||
	    !cas_acq_rel(&s->recoverer, &who, me))
		return;
	lost = load_acquire(&s->lost);
	/* Only now: should we die in the middle, the next one looks again. */
	if (look(s))
		fetch_add_acq_rel(&s->lost, (uint64_t)0 - lost);
	store_release(&s->recoverer, 0);
}

/* SPDX-License-Identifier: MIT */
#include "store/allocator.h"
#include "store/recover/recover.h"

#include "store/recover/builders.h"
#include "store/recover/census.h"
#include "store/recover/holds.h"

/*
 * Returns the units of a slab chunk that are neither free nor in a slab.  Sets *unowned to those in which an unowned
 * slab begins.
 */
static uint64_t lost_units(const struct chunk *c, uint64_t *unowned)
{
	uint64_t used = load_acquire(&c->units), bit = 1; /* pairs with chunk_put */
	uint32_t begins = record_offset(0), slab = 0, place;
	unsigned u;

	*unowned = 0;
	/* The first unit of a slab is the lowest; it is published last and cleared first. */
	for (u = 0; u < CHUNK_UNITS; u++, bit <<= 1, begins += sizeof(struct slab)) {
		place = load_acquire(&c->head[u]); /* pairs with slab_publish */
		if (place - begins == record_offset_unowned(0) - record_offset(0))
			*unowned |= bit;
		else if (place != begins && (place != slab || place == 0))
			continue;
		slab = place;
		used |= bit;
	}
	return ~used;
}

/* An object that may be lost: a chunk, a span, units, a part of an unowned slab, a record. */
struct thing {
	enum { LOST_CHUNK, LOST_SPAN, LOST_UNITS, LOST_CHANGE, LOST_SLOT, LOST_RECORD } kind;
	struct store *store;
	struct run at; /* the chunk, and for a span its length */
	uint64_t n;    /* chunks of a span; index of a slot; number of a record */
	unsigned first, count; /* units */
};

/* Returns whether the chunk, which is not free and has no kind, is inside a span. */
static bool is_inside_span(const struct region *r, size_t i)
{
	size_t head = i;

	/* Searches from the chunk downwards: inside a span no other chunk is free, or has a kind. */
	while (head-- > 0 && !bits_all(r->free, head, 1)) {
		const struct chunk *c = region_chunk(r, head);

		if (!bits_all(r->known, head, 1) || chunk_is(c, CHUNK_FREE))
			continue;
		/* Pairs with the fence of note (holds.c). */
		return chunk_is(c, CHUNK_SPAN) && load_acquire(&c->span_chunks) > i - head;
	}
	return false;
}

/* Returns whether the object is in no bitmap and in no use.  Each load is an acquire, see suspicion_stands. */
static bool seems_lost(const struct thing *t)
{
	const struct region *r = t->at.region;
	struct chunk *c = run_chunk(t->at);
	struct slab *s;
	uint64_t unowned, slot;

	if (t->kind == LOST_RECORD)
		return !store_owner_is_made(t->store, t->n);
	if (bits_all(r->free, t->at.first, 1))
		return false;
	/* A record that is not known yet is not read, because the maker died before writing anything. */
	if (t->kind == LOST_CHUNK)
		return (!bits_all(r->known, t->at.first, 1) || chunk_is(c, CHUNK_FREE)) && !is_inside_span(r, t->at.first);
	if (t->kind == LOST_SPAN) /* both pair with the fence of note (holds.c) */
		return chunk_is(c, CHUNK_SPAN) && load_acquire(&c->span_chunks) == t->n && load_acquire(&c->clean) == TAG_NONE;
	if (!chunk_is(c, CHUNK_SLABS))
		return false;
	if (t->kind == LOST_UNITS)
		return (bits_run(t->first, t->count) & ~lost_units(c, &unowned)) == 0;
	s = slab_beginning(c, t->first);
	if (s == NULL || !slab_is_unowned(s))
		return false;
	if (t->kind == LOST_CHANGE)
		return (load_acquire(&s->owner) & OWNER_CHANGING) != 0;
	slot = (uint64_t)1 << t->n % GROUP_SLOTS;
	return (slab_group_mask(s, (unsigned)(t->n / GROUP_SLOTS)) & slot & ~load_acquire(&s->free[t->n / GROUP_SLOTS])) != 0 &&
	       load_acquire(census_tag(s, t->n)) == TAG_NONE;
}

static uint64_t hold_of(const struct thing *t)
{
	struct chunk *c = run_chunk(t->at);

	switch (t->kind) {
	case LOST_CHUNK:
	case LOST_SPAN:
		return hold_chunks(t->at.first, t->n);
	case LOST_UNITS:
	case LOST_CHANGE:
		return hold_units(c, t->first, t->count);
	case LOST_SLOT:
		return hold_slot(record_at(c, record_offset_unowned(t->first)), t->n);
	default:
		return hold_record(t->n);
	}
}

static void give_back(const struct thing *t)
{
	struct heap *h = &t->store->heap;
	struct chunk *c = run_chunk(t->at);
	struct slab *s = record_at(c, record_offset_unowned(t->first));
	struct units u = {c, (uint16_t)t->first, 1, false};

	switch (t->kind) {
	case LOST_CHUNK:
		heap_soiled(h, CHUNK_UNITS);
		region_give(t->at, 1, LEFT_DIRTY);
		break;
	case LOST_SPAN:
		(void)span_release(c, c->base);
		break;
	case LOST_UNITS:
		for (; u.first < t->first + t->count; u.first++) {
			store_release(&c->head[u.first], (uint32_t)0); /* pairs with slab_record */
			units_give(h, u);
		}
		break;
	case LOST_CHANGE:
		fetch_and_acq_rel(&s->owner, ~OWNER_CHANGING);
		break;
	case LOST_SLOT:
		fetch_or_release(&s->free[t->n / GROUP_SLOTS], (uint64_t)1 << t->n % GROUP_SLOTS); /* pairs with slot_in */
		break;
	default:
		owner_reset(store_record(t->store, t->n));
		owner_publish(h, store_record(t->store, t->n), OWNER_VACANT);
	}
}

/*
 * Returns a lost object to the heap.  Returns false if a living thread may hold the object.
 *
 * Builders that try to take the object spoil the suspicion, each only once, because the object is in no bitmap.  The
 * question is repeated if the object is held, because the holder may be another search that asks about the object and
 * has seen the caller.
 */
static bool examine(const struct thing *t)
{
	enum { ATTEMPTS = 1024, HELD = 64 }; /* 16 times if the object is held */
	struct suspicion p;
	unsigned i;

	for (i = 0; i < ATTEMPTS && seems_lost(t); i++) {
		bool lost;

		if (!suspicion_begin(&p, t->store, hold_of(t))) {
			i += HELD - 1;
			continue;
		}
		lost = seems_lost(t) && suspicion_stands(&p);
		if (lost)
			give_back(t);
		suspicion_end(&p);
		if (lost)
			break;
	}
	return i < ATTEMPTS;
}

/* Examines each run of these units at once, or each unit alone if a living thread holds some. */
static bool examine_units(struct thing t, uint64_t lost)
{
	bool all = true;
	uint64_t run;

	t.kind = LOST_UNITS;
	for (; lost != 0; lost &= ~run) {
		run = lost & ~(lost + (lost & -lost)); /* the carry clears the lowest run */
		t.first = bits_lowest(run);
		t.count = bits_count(run);
		if (examine(&t))
			continue;
		if (t.count == 1) {
			all = false;
			continue;
		}
		run = run & -run;
		t.count = 1;
		all = examine(&t) && all;
	}
	return all;
}

/* Examines a part of an unowned slab: the slab is being made or unmade, or has taken slots that were never handed out. */
static bool examine_slab(struct thing t, struct slab *s)
{
	bool all = true;
	unsigned g;

	t.count = 1;
	t.kind = LOST_CHANGE;
	if ((load_acquire(&s->owner) & OWNER_CHANGING) != 0)
		all = examine(&t);
	t.kind = LOST_SLOT;
	for (g = 0; g < load_relaxed(&s->groups); g++) {
		uint64_t taken = slab_group_mask(s, g) & ~load_acquire(&s->free[g]);

		for (; taken != 0; taken = bits_without_lowest(taken)) {
			t.n = g * GROUP_SLOTS + bits_lowest(taken);
			if (load_relaxed(census_tag(s, t.n)) == TAG_NONE)
				all = examine(&t) && all;
		}
	}
	return all;
}

/* Examines chunk i of the region.  Returns the number of chunks that belong together. */
static size_t examine_chunk(struct store *store, struct region *r, size_t i, bool *all)
{
	struct thing t = {LOST_CHUNK, store, {r, i}, 1, 0, 0};
	struct chunk *c = region_chunk(r, i);
	uint64_t unowned, lost;
	struct slab *s;

	if (bits_all(r->free, i, 1))
		return 1;
	if (bits_all(r->known, i, 1) && chunk_is(c, CHUNK_SPAN)) {
		t.kind = LOST_SPAN;
		t.n = load_relaxed(&c->span_chunks);
		*all = examine(&t) && *all;
		return t.n > 0 ? t.n : 1;
	}
	if (bits_all(r->known, i, 1) && chunk_is(c, CHUNK_SLABS)) {
		lost = lost_units(c, &unowned);
		*all = examine_units(t, lost) && *all;
		for (; unowned != 0; unowned = bits_without_lowest(unowned)) {
			t.first = bits_lowest(unowned);
			if ((s = slab_beginning(c, t.first)) != NULL && (load_acquire(&s->owner) & OWNER_UNOWNED) != 0)
				*all = examine_slab(t, s) && *all;
		}
		chunk_mend(&store->heap, c);
		return 1;
	}
	*all = examine(&t) && *all;
	return 1;
}

/* Returns true if all memory that was lost before is returned. */
static bool search(struct store *s)
{
	struct region *r = load_acquire(&s->heap.regions);
	struct thing t = {LOST_RECORD, s, {r, 0}, 0, 0, 0};
	uint64_t used = load_acquire(&s->records_used);
	bool all = true;
	size_t i;

	for (i = 0; i < load_relaxed(&r->chunks);)
		i += examine_chunk(s, r, i, &all);
	/* Records that were reserved and never made: their makers died before. */
	for (; t.n < used; t.n++)
		all = examine(&t) && all;
	return all;
}

void lost_memory_return(struct store *s, struct owner *o)
{
	uint64_t deaths = load_acquire(&s->deaths), done = load_relaxed(&s->searched);
	struct building b = building_begin(&s->heap, o);
	bool all = search(s);

	building_end(b);
	if (!units_recount(s) || !all)
		return;
	/*
	 * After the search, because the next thread must search again if the caller dies in the search.  The acquire
	 * pairs with nothing.
	 */
	while ((int64_t)(deaths - done) > 0 && !cas_acquire(&s->searched, &done, deaths))
		;
}

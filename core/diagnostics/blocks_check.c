/* SPDX-License-Identifier: MIT */
/*
 * ash_check: compares every structure of a heap with the bitmaps.  The numbers are
 * those of the invariants in DESIGN.md.
 */
#include "diagnostics/blocks.h"

#include "ashlar.h"
#include "backend/region.h"
#include "backend/shared.h"
#include "front/variant.h"
#include "slab/look.h"
#include "thread/seat.h"

enum invariant {
	HOLDS,
	I1_FREE_CHUNK_HAS_NO_KIND,
	I2_UNITS_ONLY_IN_SLAB_CHUNKS,
	I3_FREE_UNIT_HAS_NO_SLAB,
	I4_SLAB_GEOMETRY,
	I5_NO_BITS_BEYOND_THE_SLOTS,
	I6_FREE_AND_REMOTE_DISJOINT,
	I7_HINTS_COVER_FREE_GROUPS,
	I8_SLAB_ON_ITS_LIST,
	I9_MAP_KNOWS_EVERY_CHUNK,
	I10_SPAN_HOLDS_ITS_CHUNKS,
	/* 11 and 12 are invariants of arenas (arena/arena_call.c) */
	I13_FREE_UNITS_ARE_FOUND = 13,
	I15_BLOCKS_ARE_WHOLE = 15 /* 14: arena/arena.h */
};

/* A group with free slots is ready, or in a spare of one slot. */
static bool hints_cover(const struct slab *s, unsigned g, uint64_t word)
{
	return word == 0 || ((s->ready >> g) & 1) != 0 || (s->spare && s->slots == 1);
}

/* Checks a slab.  o is the caller's owner record, checked out, or NULL. */
static enum invariant check_slab(const struct owner *o, struct chunk *c, uint32_t place)
{
	const struct slab *s = record_at(c, place);
	unsigned unit = record_unit(place), g, u;
	uint64_t owner = load_acquire(&s->owner);
	struct look l = look_begin(s);
	const struct heap *h = chunk_heap(c);

	if (owner == 0 || ((owner & OWNER_UNOWNED) != 0) != record_is_unowned(place) ||
	    !look_is_slab(&l, unit, l.class < CLASSES && slab_fills(h, l.class)) ||
	    load_relaxed(&s->chunk) != c || load_relaxed(&s->unit) != unit ||
	    load_relaxed(&s->reciprocal) != class_reciprocal(l.size) ||
	    l.base != load_relaxed(&c->base) + ((size_t)unit << UNIT_SHIFT) +
			      (record_is_unowned(place) || !heap_kind(h)->gaps ? 0 : slab_gap(s)))
		return I4_SLAB_GEOMETRY;
	for (u = 0; u < l.units; u++)
		if (load_acquire(&c->head[unit + u]) != place)
			return I4_SLAB_GEOMETRY;
	for (g = 0; g < l.groups; g++) {
		uint64_t word = load_relaxed(&s->free[g]), remote = load_relaxed(&l.remote[g]);

		if (((word | remote) & ~slab_group_mask(s, g)) != 0)
			return I5_NO_BITS_BEYOND_THE_SLOTS;
		/* Only for the caller's own slabs, because slabs of other threads may be in the middle of a collection. */
		if (o != NULL && (owner & ~OWNER_PENDING) == (uint64_t)(uintptr_t)o) {
			if ((word & remote) != 0)
				return I6_FREE_AND_REMOTE_DISJOINT;
			if (!hints_cover(s, g, word))
				return I7_HINTS_COVER_FREE_GROUPS;
		}
	}
	return HOLDS;
}

static enum invariant check_unit(const struct owner *o, struct chunk *c, unsigned u)
{
	uint32_t place = load_acquire(&c->head[u]);
	enum invariant broken;

	if (place == 0)
		return HOLDS;
	/* The head is read again, because a unit that was freed since has no slab. */
	if (((load_acquire(&c->units) >> u) & 1) != 0 && load_acquire(&c->head[u]) != 0)
		return I3_FREE_UNIT_HAS_NO_SLAB;
	if (!record_begins(place, u))
		return HOLDS;
	broken = check_slab(o, c, place);
	/*
	 * The finding does not count if the slab was unmade or replaced during the check.  The fence pairs with that
	 * in slab_shape: if this check read a member of the next slab, it reads head[] as cleared or as published
	 * again, and then the second look finds that slab complete.
	 */
	fence_acquire();
	if (broken != HOLDS && load_acquire(&c->head[u]) == place &&
	    check_slab(o, c, place) == broken)
		return broken;
	return HOLDS;
}

static enum invariant check_slab_chunk(const struct owner *o, struct chunk *c)
{
	const uint64_t *made = &chunk_heap(c)->unowned_made;
	unsigned u;

	for (u = 0; u < CHUNK_UNITS; u++) {
		uint64_t before = load_acquire(made); /* pairs with unowned_make */
		enum invariant broken = check_unit(o, c, u);

		/*
		 * The finding does not count if unowned slabs were made during the check.  The fence pairs with that
		 * in slab_shape: if this check read a member of such a slab, it reads a changed count.
		 */
		fence_acquire();
		if (broken != HOLDS && load_acquire(made) == before)
			return broken;
	}
	return HOLDS;
}

/*
 * Returns whether no other thread is changing units now.  A thread that changes units is, for a moment, between the
 * store of the units and that of the region's hint.
 */
static bool no_thread_changes(struct heap *h, const struct owner *o)
{
	struct owner *v;

	if (!heap_kind(h)->own_records)
		return shared_hooks_now()->is_quiet(h);
	for (v = owner_after(h, NULL); v != NULL; v = owner_after(h, v))
		if (v != o && load_acquire(&v->state) != OWNER_VACANT)
			return false;
	return o != NULL;
}

static bool units_are_found(const struct chunk *c)
{
	const uint8_t *hint = region_room(load_relaxed(&c->region)) + load_relaxed(&c->index);

	/* The load of hint pairs with the store in chunk_hint. */
	return bits_longest(load_seq_cst(&c->units)) <= load_seq_cst(hint);
}

static enum invariant look_at_region(const struct owner *o, struct region *r)
{
	size_t chunks = load_relaxed(&r->chunks), i, n;
	const char *base = load_relaxed(&r->base);

	for (i = 0; (i = region_next_known(r, i)) < chunks; i += n) {
		struct chunk *c = region_chunk(r, i);
		bool is_free = bits_all(r->free, i, 1);
		enum invariant broken = HOLDS;

		n = 1;
		if (load_relaxed(&r->advice[i]) == ADVICE_LOST) /* the map may have a chunk of another region */
			continue;
		/* A chunk that is being cut off is neither free nor of a kind, and leaves the map first. */
		if (map_guess(base + (i << CHUNK_SHIFT)) != c && (is_free || !chunk_is(c, CHUNK_FREE)))
			return I9_MAP_KNOWS_EVERY_CHUNK;
		if (is_free && !chunk_is(c, CHUNK_FREE) && bits_all(r->free, i, 1))
			return I1_FREE_CHUNK_HAS_NO_KIND;
		if (load_acquire(&c->units) != 0 && chunk_is(c, CHUNK_SPAN))
			return I2_UNITS_ONLY_IN_SLAB_CHUNKS;
		if (chunk_is(c, CHUNK_SLABS))
			broken = check_slab_chunk(o, c);
		else if (chunk_is(c, CHUNK_SPAN))
			n = load_relaxed(&c->span_chunks);
		if (region_alone(r) != 0)
			break;
		if (n == 0 || n > chunks - i || bits_unset(r->free, i + 1, n - 1) != n - 1)
			return I10_SPAN_HOLDS_ITS_CHUNKS;
		if (broken == HOLDS && chunk_is(c, CHUNK_SLABS) && !units_are_found(c) &&
		    no_thread_changes(r->heap, o) && !units_are_found(c))
			broken = I13_FREE_UNITS_ARE_FOUND;
		if (broken != HOLDS)
			return broken;
	}
	return HOLDS;
}

/*
 * Other threads claim and return chunks during a pass: a span seen at its first chunk may be gone at its last chunk.
 * So a broken invariant is checked again; a real fault is still there.
 */
static enum invariant check_region(const struct owner *o, struct region *r)
{
	enum { LOOKS = 8 };
	enum invariant broken = HOLDS;
	unsigned i;

	for (i = 0; i < LOOKS; i++) {
		if (load_acquire(&r->state) != REGION_LIVE)
			return HOLDS;
		broken = look_at_region(o, r);
		if (broken == HOLDS)
			break;
	}
	return broken;
}

static enum invariant check_list(const struct owner *o, unsigned class)
{
	const struct slabs *l = &o->bins[class].partial;
	const struct slab *s, *before = slabs_tail(l);

	for (s = l->head; s != NULL; before = s, s = s->next) {
		if ((load_relaxed(&s->owner) & ~OWNER_PENDING) != (uint64_t)(uintptr_t)o ||
		    s->class != class || s->previous != before || !slab_is_ready(s) || bin_has(o, s))
			return I8_SLAB_ON_ITS_LIST;
	}
	return before == slabs_tail(l) ? HOLDS : I8_SLAB_ON_ITS_LIST;
}

static enum invariant check_owner(const struct owner *o)
{
	unsigned class;

	for (class = 0; class < CLASSES; class++) {
		enum invariant broken = check_list(o, class);

		if (broken != HOLDS)
			return broken;
	}
	return HOLDS;
}

int heap_check(struct heap *h, const struct owner *o)
{
	struct region *r;
	enum invariant broken = HOLDS;

	for (r = region_first(h); r != NULL && broken == HOLDS; r = region_next(r))
		broken = check_region(o, r);
	/* Only the holder of a record may read its lists. */
	if (broken == HOLDS && o != NULL)
		broken = check_owner(o);
	return (int)broken;
}

int ash_check(void)
{
	struct owner *o = seat.open == 0 ? NULL : seat.self;
	int broken;

	/* Checked out, so that signal handlers do not change the words that are read here. */
	seat_close();
	broken = heap_check(&heap_default, o);
	if (o != NULL)
		seat_open();
	if (broken == HOLDS && !blocks_are_whole())
		broken = I15_BLOCKS_ARE_WHOLE;
	return broken;
}

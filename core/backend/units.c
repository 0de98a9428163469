/* SPDX-License-Identifier: MIT */
#include "backend/units.h"

#include "backend/region_advice.h"
#include "backend/retain.h"

#define REGION_LATE  8 /* chunks: smaller regions were made first */
#define REGION_LARGE 512u /* a search in all of it takes long */

/* Claims a run of units of this chunk, the lowest one; returns their bits, or 0: it has none. */
static __attribute__((noinline)) uint64_t claim_in(struct chunk *c, unsigned want)
{
	unsigned n = units_count(want);
	/* Acquire pairs with chunk_put: the last user is done with the memory. */
	uint64_t word = load_acquire(&c->units), runs, mask, aligned;

	do {
		runs = bits_starts(word, n);
		if (bits_is_power(n)) {
			/* Multiples of n come first, or there will soon be few. */
			aligned = runs & BITS_ALL / bits_run(0, n);
			if (aligned != 0 || class_is_aligned(units_class(want)))
				runs = aligned;
		}
		if (runs == 0) {
			chunk_hint(c, true);
			return 0;
		}
		mask = bits_run(bits_lowest(runs), n);
	} while (!cas_acquire(&c->units, &word, word & ~mask));
	return mask;
}

struct claimed {
	struct chunk *chunk;
	uint64_t mask; /* the bits of its units; 0: none */
};

/* Claims the lowest-addressed run of units in this region. */
static __attribute__((noinline)) struct claimed claim_at(struct region *r, unsigned want)
{
	unsigned n = units_count(want);
	const uint64_t *room = r->room, *end = room + ROOM_WORDS(load_relaxed(&r->chunks));
	struct claimed at = {NULL, 0};
	uint64_t some, add = (0x80 - n) * ROOM_EACH;

	for (; room < end; room++) {
		/*
		 * The highest bit of each byte that is at least n.  Acquire pairs with chunk_hint:
		 * the chunk's record is complete.
		 */
		for (some = (load_acquire(room) + add) & 0x80 * ROOM_EACH; some != 0;
		     some = bits_without_lowest(some)) {
			at.chunk = region_chunk(r, (size_t)(room - r->room) * ROOM_CHUNKS +
							   bits_lowest(some) / 8);
			at.mask = claim_in(at.chunk, want);
			if (at.mask != 0)
				return at;
		}
	}
	/*
	 * All hints are less than n.  One that another thread has set meanwhile, or is setting, may be
	 * missed: then this is too low until the next one is set, or the heap is about to grow.
	 */
	if (at.chunk == NULL && load_relaxed(&r->most) >= n)
		store_relaxed(&r->most, n - 1);
	return at;
}

/* The n units of these bits, which were just claimed and are accounted for here. */
static ALWAYS_INLINE struct units units_taken(struct heap *h, struct claimed at, unsigned n)
{
	uint64_t clean = load_relaxed(&at.chunk->clean) & at.mask;
	struct units u = {at.chunk, (uint16_t)bits_lowest(at.mask), (uint16_t)n, clean == at.mask};

	if (clean != 0) /* saves a locked operation */
		fetch_and_acq_rel(&u.chunk->clean, ~at.mask);
	heap_cleaned(h, n - bits_count(clean), n);
	return u;
}

/*
 * The lowest-addressed run of free units; for a large slab the lowest one in a region that is
 * not one of the first few, if there is one.  doubt: at last region.most is not believed of
 * regions with fewer chunks.
 */
static struct units units_find(struct heap *h, unsigned want, unsigned doubt)
{
	unsigned n = units_count(want), pass = !SMALL && units_class(want) > CLASS_ONE ? 2 : 1;
	struct claimed at;
	struct region *r;

	do {
		for (r = region_first(h); r != NULL; r = region_next(r)) {
			if (pass > 1 && load_relaxed(&r->chunks) < REGION_LATE)
				continue;
			if (load_relaxed(&r->most) < n && (pass > 0 || load_relaxed(&r->chunks) >= doubt))
				continue;
			at = claim_at(r, want);
			if (at.mask != 0)
				goto found;
		}
	} while (pass-- + (doubt != 0) > 1);
	return (struct units){NULL, 0, 0, false};
found:
	return units_taken(h, at, n);
}

static bool chunk_make(struct heap *h, bool dense)
{
	struct run run = region_claim(h, 1, 1, true);
	bool clean;

	if (run.region == NULL)
		return false;
	clean = region_is_clean(run, 1);
	if (clean)
		retain_fresh(h, CHUNK_UNITS);
	region_advise(run, 1, huge_policy(h, dense ? HUGE_SLABS : HUGE_MIXED, 0));
	chunk_open(h, run, clean);
	return true;
}

struct units units_claim(struct heap *h, unsigned want, bool grow, bool dense)
{
	unsigned doubt = grow ? REGION_LARGE : 0;
	struct units u;

	/*
	 * Other threads may exhaust a new chunk first; retry (they made progress).  Without one, all regions
	 * are doubted, once: the loop ends with a `doubt` of 0 or UINT32_MAX.
	 */
	while ((u = units_find(h, want, doubt)).chunk == NULL && doubt - 1 < REGION_LARGE)
		if (!chunk_make(h, dense))
			doubt = UINT32_MAX;
	return u;
}

bool units_extend(struct heap *h, struct units u, unsigned n)
{
	/* Acquire pairs with chunk_put: the last user is done with the memory. */
	uint64_t word = load_acquire(&u.chunk->units), mask;

	if (u.first + n > CHUNK_UNITS)
		return false;
	if (n == u.count)
		return true;
	n -= u.count;
	mask = bits_run(u.first + u.count, n);
	do {
		if ((word & mask) != mask)
			return false;
	} while (!cas_acquire(&u.chunk->units, &word, word & ~mask));
	(void)units_taken(h, (struct claimed){u.chunk, mask}, n);
	return true;
}

void units_give(struct heap *h, struct units u)
{
	struct chunk *c = u.chunk;
	uint64_t mask = bits_run(u.first, u.count);

	/* Must come first: units freed just now do not count as idle. */
	retain_tick(h, u.count);
	heap_dirtied(h, u.count, u.count);
	chunk_put(h, c, mask);
}

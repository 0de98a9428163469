/* SPDX-License-Identifier: MIT */
#include "backend/units.h"

#include "backend/hold.h"
#include "backend/region.h"
#include "backend/retain.h"
#include "base/variant.h"

#define REGION_LATE  8 /* chunks: the first few regions are smaller */
#define REGION_LARGE 512u /* a search through all of such a region takes long */

/* Claims the lowest run of units in this chunk; returns its bits, or 0 if there is no such run. */
static __attribute__((noinline)) uint64_t claim_in(struct chunk *c, unsigned want)
{
	unsigned n = units_count(want);
	/* Acquire pairs with chunk_put: the last user is done with the memory. */
	uint64_t word = load_acquire(&c->units), runs, mask, aligned;

	for (;;) {
		runs = bits_starts(word, n);
		if (bits_is_power(n)) {
			/* Take multiples of n first, because otherwise few of them would soon be left. */
			aligned = runs & BITS_ALL / bits_run(0, n);
			if (aligned != 0 || class_is_aligned(units_class(want)))
				runs = aligned;
		}
		if (runs == 0) {
			chunk_hint(c, word, ROOM_LONGEST);
			return 0;
		}
		mask = bits_run(units_choose(runs), n);
		hold_some(c, bits_lowest(mask), n, true);
		if (cas_acquire(&c->units, &word, word & ~mask))
			return mask;
		hold_some(c, bits_lowest(mask), n, false);
	}
}

struct claimed {
	struct chunk *chunk;
	uint64_t mask; /* the bits of its units; 0: no units */
};

/* Returns the highest bit of each byte of these hints that is at least n. */
static ALWAYS_INLINE uint64_t hints_from(uint64_t hints, unsigned n)
{
	return (hints + (0x80 - n) * ROOM_EACH) & ROOM_HIGH;
}

/*
 * Claims the run of units with the lowest address in these parts of the region; `parts` has the highest bit
 * of the byte of each part.
 */
static ALWAYS_INLINE struct claimed claim_at(struct region *r, unsigned want, uint64_t parts, size_t doubt)
{
	unsigned n = units_count(want), part;
	struct claimed at = {NULL, 0};
	size_t word, words, end = ROOM_WORDS(load_relaxed(&r->chunks));
	uint64_t some;

	for (; parts != 0; parts = bits_without_lowest(parts)) {
		part = bits_lowest(parts) / 8;
		words = r->part_words;
		word = part * words;
		if (word >= end) /* the region may grow */
			break;
		for (; words > 0; words--, word++) {
			/* Acquire pairs with chunk_hint: the chunk's record is complete. */
			for (some = hints_from(load_acquire(&r->room[word]), n); some != 0;
			     some = bits_without_lowest(some)) {
				at.chunk = region_chunk(r, (word * 64 + bits_lowest(some)) / 8);
				at.mask = claim_in(at.chunk, want);
				if (at.mask != 0)
					return at;
			}
		}
		/*
		 * All hints are less than n.  A hint that another thread has set since, or is setting, may be
		 * missed: then the stored value is too low until the next hint is set, or the heap is about
		 * to grow.
		 */
		if (((uintptr_t)at.chunk | doubt) == 0)
			store_relaxed(&region_parts(r)[part], (uint8_t)(n - 1));
	}
	return at;
}

/* Returns the n units of these bits, which were just claimed, and accounts for them. */
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
 * Claims the run of free units with the lowest address in regions of at least `late` chunks.  In regions with
 * fewer than `doubt` chunks it does not rely on region.part.
 */
static ALWAYS_INLINE struct claimed units_find(struct heap *h, unsigned want, size_t late, size_t doubt)
{
	struct claimed at = {NULL, 0};
	struct region *r;

	for (r = region_first(h); r != NULL; r = region_next(r)) {
		size_t chunks = load_relaxed(&r->chunks);
		uint64_t parts;

		/*
		 * Where addresses are short there are many records that spans left: read only this line of
		 * them.
		 */
		if (chunks < late || chunks == 0)
			continue;
		parts = hints_from(load_relaxed(&r->part), units_count(want));
		if (chunks < doubt && r->remote != NULL)
			parts = ROOM_HIGH;
		if (parts == 0)
			continue;
		at = claim_at(r, want, parts, doubt);
		if (at.mask != 0)
			break;
	}
	return at;
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
	region_tells(run, 1, false);
	region_advise(run, 1, huge_policy(h, dense ? HUGE_SLABS : HUGE_MIXED, 0));
	chunks_compare(h); /* before the new chunk is open */
	chunk_open(h, run, clean);
	return true;
}

struct units units_claim(struct heap *h, unsigned want, bool grow, bool dense)
{
	/* A large slab is first searched for beyond the first few regions, unless all regions are small. */
	size_t late = units_class(want) > CLASS_ONE && !region_short() ? REGION_LATE : 0, doubt = 0;
	struct claimed at;

	while ((at = units_find(h, want, late, doubt)).mask == 0) {
		if (late != 0)
			late = 0;
		/*
		 * Where addresses are short, a span fits the block of a large slot better: see alloc_class.
		 */
		else if (!grow || (region_exact() && h == &heap_default && units_class(want) > CLASS_ONE))
			return (struct units){NULL, 0, 0, false};
		else if (doubt == 0)
			doubt = REGION_LARGE;
		else /* other threads may exhaust a new chunk first: then try again, because they made progress */
			doubt = (grow = chunk_make(h, dense)) ? 0 : SIZE_MAX;
	}
	return units_taken(h, at, units_count(want));
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

	/* Must come first, so that units freed just now do not count as idle. */
	retain_tick(h, u.count);
	if (u.clean) /* before the units can be claimed */
		fetch_or_acq_rel(&c->clean, mask);
	heap_dirtied(h, u.clean ? 0 : u.count, u.count);
	chunk_put(h, c, mask);
	hold_some(c, u.first, u.count, false);
}

/* SPDX-License-Identifier: MIT */
#include "backend/units.h"

#include "backend/region_advice.h"
#include "backend/retain.h"

#define REGION_LATE 8 /* chunks: smaller regions were made first */

/* Claims a run of units of this chunk, the lowest one; returns their bits, or 0: it has none. */
static __attribute__((noinline)) uint64_t claim_in(struct chunk *c, unsigned want)
{
	unsigned n = units_count(want);
	/* Acquire pairs with chunk_put: the last user is done with the memory. */
	uint64_t word = load_acquire(&c->units), runs, mask, aligned;

	do {
		mask = bits_run(0, n);
		runs = bits_starts(word, n);
		/* Multiples of n come first, or there will soon be few. */
		aligned = runs & BITS_ALL / mask;
		if (bits_is_power(n) && (aligned != 0 || class_is_aligned(units_class(want))))
			runs = aligned;
		if (runs == 0) {
			chunk_hint(c, true);
			return 0;
		}
		mask <<= bits_lowest(runs);
	} while (!cas_acquire(&c->units, &word, word & ~mask));
	return mask;
}

/*
 * The lowest-addressed run of free units; for a large slab the lowest one in a region that is
 * not one of the first few, if there is one.
 */
static struct units units_find(struct heap *h, unsigned want)
{
	unsigned n = units_count(want);
	struct units u = {NULL, 0, (uint16_t)n, false};
	bool large = !SMALL && units_class(want) > CLASS_ONE;
	size_t w, words, least = large ? REGION_LATE : 0;
	uint64_t mask, clean, some;
	struct region *r;

again:
	for (r = region_first(h); r != NULL; r = region_next(r)) {
		words = load_relaxed(&r->chunks);
		words = words < least ? 0 : ROOM_WORDS(words);
		for (w = 0; w < words; w++) {
			/*
			 * The highest bit of each byte that is at least n.  Acquire pairs with
			 * chunk_hint: the chunk's record is complete.
			 */
			some = load_acquire(&r->room[w]) + (0x80 - n) * ROOM_EACH;
			for (some &= 0x80 * ROOM_EACH; some != 0; some = bits_without_lowest(some)) {
				u.chunk = region_chunk(r, w * ROOM_CHUNKS + bits_lowest(some) / 8);
				mask = claim_in(u.chunk, want);
				if (mask != 0)
					goto found;
			}
		}
	}
	if (least != 0) {
		least = 0;
		goto again;
	}
	u.chunk = NULL;
	return u;
found:
	u.first = (uint16_t)bits_lowest(mask);
	clean = load_relaxed(&u.chunk->clean) & mask;
	u.clean = clean == mask;
	if (clean != 0) /* saves a locked operation */
		fetch_and_acq_rel(&u.chunk->clean, ~mask);
	heap_cleaned(h, n - bits_count(clean), n);
	return u;
}

static struct chunk *chunk_make(struct heap *h, bool dense)
{
	struct run run = region_claim(h, 1, 1, true);
	bool clean;

	if (run.region == NULL)
		return NULL;
	clean = region_is_clean(run, 1);
	if (clean)
		retain_fresh(h, CHUNK_UNITS);
	region_advise(run, 1, huge_policy(h, dense ? HUGE_SLABS : HUGE_MIXED, 0));
	return chunk_open(h, run, clean);
}

struct units units_claim(struct heap *h, unsigned want, bool grow, bool dense)
{
	struct units u;

	/* Other threads may exhaust a new chunk first; retry (they made progress). */
	do
		u = units_find(h, want);
	while (u.chunk == NULL && grow && chunk_make(h, dense) != NULL);
	return u;
}

void units_give(struct heap *h, struct units u)
{
	struct chunk *c = u.chunk;
	uint64_t mask = bits_run(u.first, u.count);

	/* Must come first: units freed just now do not count as idle. */
	(void)retain_tick(h, u.count * RETAIN_TICK);
	heap_dirtied(h, u.count, u.count);
	chunk_put(h, c, mask);
}

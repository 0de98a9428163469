/* SPDX-License-Identifier: MIT */
#include "backend/units.h"

#include "backend/retain.h"

/* Clears the hint that the chunk may have free units, unless some were freed meanwhile. */
static __attribute__((noinline)) void chunk_is_full(struct chunk *c)
{
	chunk_hint(c, false);
	if (load_seq_cst(&c->units) != 0)
		chunk_hint(c, true);
}

/* Sets u->chunk and .first to units of this chunk.  False: it has no such run. */
static ALWAYS_INLINE bool claim_in(struct chunk *c, struct units *u, const struct bits_runs *fit)
{
	/* Acquire pairs with chunk_put: the last user is done with the memory. */
	uint64_t word = load_acquire(&c->units), runs;

	do {
		runs = bits_starts(word, fit);
		if (likely(runs == 0)) {
			if (word == 0)
				chunk_is_full(c);
			return false;
		}
		u->first = (uint16_t)bits_lowest(runs);
	} while (!cas_acquire(&c->units, &word, word & ~bits_run(u->first, u->count)));
	u->chunk = c;
	return true;
}

/* The lowest-addressed run of free units. */
static struct units units_find(struct heap *h, unsigned count)
{
	struct units u = {NULL, 0, (uint16_t)count, false};
	struct bits_runs fit;
	uint64_t mask, clean, some;
	struct region *r;

	bits_runs_of(&fit, count);
	for (r = region_first(h); r != NULL; r = region_next(r)) {
		size_t w, words = bits_words(load_relaxed(&r->chunks));

		for (w = 0; w < words; w++)
			/* Acquire pairs with chunk_hint: the chunk's record is complete. */
			for (some = load_acquire(&r->partial[w]); some != 0;
			     some = bits_without_lowest(some))
				if (claim_in(region_chunk(r, w * 64 + bits_lowest(some)), &u, &fit))
					goto found;
	}
	return u;
found:
	mask = bits_run(u.first, count);
	clean = load_relaxed(&u.chunk->clean) & mask;
	u.clean = clean == mask;
	if (clean != 0) /* saves a locked operation */
		fetch_and_acq_rel(&u.chunk->clean, ~mask);
	heap_cleaned(h, count - bits_count(clean));
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

struct units units_claim(struct heap *h, unsigned count, bool grow, bool dense)
{
	struct units u;

	/* Other threads may exhaust a new chunk first; retry (they made progress). */
	do
		u = units_find(h, count);
	while (u.chunk == NULL && grow && chunk_make(h, dense) != NULL);
	return u;
}

void units_give(struct heap *h, struct units u)
{
	struct chunk *c = u.chunk;
	uint64_t mask = bits_run(u.first, u.count);

	/* Must come first: units freed just now do not count as idle. */
	(void)retain_tick(h, u.count);
	heap_dirtied(h, u.count);
	chunk_put(h, c, mask);
}

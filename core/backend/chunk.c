/* SPDX-License-Identifier: MIT */
#include "backend/chunk.h"

#include "pages.h"
#include "backend/region.h"

#define ALL_UNITS (~(uint64_t)0)

static struct run chunk_run(const struct chunk *c)
{
	struct run run = {c->region, c->index};

	return run;
}

__attribute__((noinline)) void chunk_hint(struct chunk *c, bool partial)
{
	/* Not only for the chunk's holder; region and index of a record never change. */
	uint32_t index = load_relaxed(&c->index);
	uint64_t *word = &load_relaxed(&c->region)->partial[index / 64];
	uint64_t bit = (uint64_t)1 << (index % 64);

	/*
	 * Ordered, and so is what is done to c->units before and looked at after: who
	 * gives units and finds the hint, or who takes it away, sees the other.
	 */
	if (!partial)
		fetch_and_seq_cst(word, ~bit);
	else if ((load_seq_cst(word) & bit) == 0)
		fetch_or_seq_cst(word, bit);
}

struct chunk *chunk_open(struct heap *h, struct run run, bool clean)
{
	struct chunk *c = run_chunk(run);

	fetch_add_relaxed(&h->slab_chunks, 1);
	/* Relaxed: looked at by map_find, and by those with an old hint. */
	store_relaxed(&c->base, run_base(run));
	store_relaxed(&c->region, run.region);
	store_relaxed(&c->index, (uint32_t)run.first);
	store_relaxed(&c->clean, clean ? ALL_UNITS : 0);
	store_release(&c->kind, CHUNK_SLABS);
	(void)exchange_seq_cst(&c->units, ALL_UNITS);
	chunk_hint(c, true);
	return c;
}

/* The chunk back to its region, if it is free throughout. */
static bool chunk_return(struct heap *h, struct chunk *c)
{
	uint64_t all = ALL_UNITS;
	bool clean;

	/* Whoever wins this swap holds the chunk: no unit of it can be claimed. */
	if (!cas_acq_rel(&c->units, &all, 0))
		return false;
	clean = load_relaxed(&c->clean) == ALL_UNITS;
	if (!clean) /* a chunk is counted dirty as a whole */
		heap_dirtied(h, bits_count(load_relaxed(&c->clean)));
	chunk_hint(c, false);
	fetch_add_relaxed(&h->slab_chunks, ~(uint64_t)0);
	store_release(&c->kind, CHUNK_FREE);
	region_give(chunk_run(c), 1, clean);
	return true;
}

void chunk_put(struct heap *h, struct chunk *c, uint64_t mask)
{
	/* Pairs with the acquire of units_claim_in. */
	if ((fetch_or_seq_cst(&c->units, mask) | mask) != ALL_UNITS || !chunk_return(h, c))
		chunk_hint(c, true);
}

void chunk_mend(struct heap *h, struct chunk *c)
{
	uint64_t word = load_seq_cst(&c->units);

	/* Who is about to claim of a chunk that it has just made makes another. */
	if (word != 0 && (word != ALL_UNITS || !chunk_return(h, c)))
		chunk_hint(c, true);
}

size_t chunk_purge(struct heap *h, struct chunk *c)
{
	uint64_t word = load_acquire(&c->units), held, left, purged = 0;

	/* Hold the dirty ones while they are purged, so that nobody is given them. */
	do {
		held = word & ~load_relaxed(&c->clean);
		if (held == 0)
			return 0;
	} while (!cas_acquire(&c->units, &word, word & ~held));
	/* Another purge may have been faster with some of them. */
	for (left = held & ~load_relaxed(&c->clean); left != 0;) {
		unsigned first = bits_lowest(left), n;
		uint64_t above = ~(left >> first);

		/* Zeros come in from the left, so that `above` is 0 only for a whole word. */
		n = above == 0 ? 64 : bits_lowest(above);
		if (pages_purge(c->base + ((size_t)first << UNIT_SHIFT), (size_t)n << UNIT_SHIFT,
				h->sharing))
			purged |= bits_run(first, n);
		left &= ~bits_run(first, n);
	}
	fetch_or_acq_rel(&c->clean, purged);
	heap_cleaned(h, bits_count(purged));
	chunk_put(h, c, held);
	return (size_t)bits_count(purged) << UNIT_SHIFT;
}

/* SPDX-License-Identifier: MIT */
#include "backend/chunk.h"

#include "backend/retain.h"
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

static __attribute__((noinline)) struct units claim_in(struct heap *h, struct chunk *c,
						       unsigned count)
{
	return units_claim_in(h, c, count, bits_runs);
}

static struct chunk *chunk_make(struct heap *h, bool dense)
{
	struct run run = region_claim(h, 1, 1, true);
	struct chunk *c;
	bool clean;

	if (run.region == NULL)
		return NULL;
	c = run_chunk(run);
	clean = region_is_clean(run, 1);
	if (clean)
		retain_fresh(h, CHUNK_UNITS);
	region_advise(run, 1, huge_policy(h, dense ? HUGE_SLABS : HUGE_MIXED, 0));
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

struct units units_claim(struct heap *h, unsigned count, bool grow, bool dense)
{
	struct units u = units_find(h, count, claim_in);

	while (grow && u.chunk == NULL) {
		struct chunk *c = chunk_make(h, dense);

		if (c == NULL)
			break;
		/* Others may empty it before us: then they got on, and we try again. */
		u = claim_in(h, c, count);
	}
	return u;
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
	if ((fetch_or_seq_cst(&c->units, held) | held) != ALL_UNITS || !chunk_return(h, c))
		chunk_hint(c, true); /* who found nothing meanwhile took it away */
	return (size_t)bits_count(purged) << UNIT_SHIFT;
}

void units_give(struct heap *h, struct units u)
{
	struct chunk *c = u.chunk;
	uint64_t mask = bits_run(u.first, u.count);

	(void)retain_tick(h, u.count); /* before: what came just now was not idle */
	heap_dirtied(h, u.count);
	/* Pairs with the acquire of claim_in. */
	if ((fetch_or_seq_cst(&c->units, mask) | mask) != ALL_UNITS || !chunk_return(h, c))
		chunk_hint(c, true);
}

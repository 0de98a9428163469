/* SPDX-License-Identifier: MIT */
/* Units of slab chunks: claiming and freeing them. */
#ifndef CORE_UNITS_H
#define CORE_UNITS_H

#include "backend/chunk.h"
#include "internal.h"

struct units {
	struct chunk *chunk; /* NULL: none */
	unsigned first, count;
	bool clean;	     /* they read zero */
};

/* Claims `count` units of this chunk; .chunk is NULL if it has no such run. */
static ALWAYS_INLINE struct units units_claim_in(struct heap *h, struct chunk *c, unsigned count,
						 uint64_t (*find)(uint64_t word, unsigned n))
{
	struct units u = {NULL, 0, count, false};
	/* Acquire pairs with chunk_put: the last user is done with the memory. */
	uint64_t word = load_acquire(&c->units), runs, mask, clean;

	do {
		runs = find(word, count);
		if (runs == 0) {
			if (word != 0)
				return u;
			/* Clear the hint, unless units were freed concurrently. */
			chunk_hint(c, false);
			if (load_seq_cst(&c->units) != 0)
				chunk_hint(c, true);
			return u;
		}
		u.first = bits_lowest(runs);
		mask = bits_run(u.first, count);
	} while (!cas_acquire(&c->units, &word, word & ~mask));

	u.chunk = c;
	clean = load_relaxed(&c->clean) & mask;
	u.clean = clean == mask;
	if (!QUICK || clean != 0) /* QUICK saves a locked operation, else a few bytes */
		fetch_and_acq_rel(&c->clean, ~mask);
	heap_cleaned(h, count - bits_count(clean));
	return u;
}

/* The lowest-addressed run of units that `claim` succeeds on. */
static ALWAYS_INLINE struct units units_find(struct heap *h, unsigned count,
					     struct units (*claim)(struct heap *, struct chunk *,
								   unsigned))
{
	struct units u = {NULL, 0, count, false};
	struct region *r;

	for (r = load_acquire(&h->regions); r != NULL; r = r->next) {
		size_t w, words = bits_words(load_relaxed(&r->chunks));

		for (w = 0; w < words; w++) {
			/* Acquire pairs with chunk_hint: the chunk's record is complete. */
			uint64_t some = load_acquire(&r->partial[w]);

			for (; some != 0; some = bits_without_lowest(some)) {
				struct chunk *c = region_chunk(r, w * 64 + bits_lowest(some));

				u = claim(h, c, count);
				if (u.chunk != NULL)
					return u;
			}
		}
	}
	return u;
}

/*
 * `count` adjacent units (aligned if a power of two), from a new chunk only if
 * `grow`.  dense: the slabs will soon use all of such a chunk.
 */
INTERNAL struct units units_claim(struct heap *h, unsigned count, bool grow, bool dense);

/* Frees the units, as dirty, and returns the chunk if all its units are free now. */
INTERNAL void units_give(struct heap *h, struct units u);

static inline char *units_base(struct units u)
{
	return u.chunk->base + ((size_t)u.first << UNIT_SHIFT);
}

#endif

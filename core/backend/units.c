/* SPDX-License-Identifier: MIT */
#include "backend/units.h"

#include "backend/retain.h"

static __attribute__((noinline)) struct units claim_in(struct heap *h, struct chunk *c,
						       unsigned count)
{
	return units_claim_in(h, c, count, bits_runs);
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

void units_give(struct heap *h, struct units u)
{
	struct chunk *c = u.chunk;
	uint64_t mask = bits_run(u.first, u.count);

	(void)retain_tick(h, u.count); /* before: what came just now was not idle */
	heap_dirtied(h, u.count);
	chunk_put(h, c, mask);
}

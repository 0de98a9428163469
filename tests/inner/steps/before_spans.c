/* SPDX-License-Identifier: MIT */
/* The preparation of the paths of single steps that concern spans and retained chunks. */
#include "inner/steps/before.h"
#include "inner/steps/harness.h"

#include "backend/map.h"
#include "backend/retain.h"

void path_dirty_span(void)
{
	char *p = ash_alloc(step_size);

	memset(p, 1, step_size);
	heap_default.floor = 4 * CHUNK_UNITS; /* it stays, as after a peak that came again */
	ash_release(p);
}

/* Retained chunks, fewer than the block needs and with no free one behind them. */
void path_retained_elsewhere(void)
{
	char *p = ash_alloc(2 * CHUNK_SIZE);
	const struct chunk *c = map_find(p);

	memset(p, 1, 2 * CHUNK_SIZE);
	(void)region_claim_at((struct run){c->region, c->index + 2}, 1);
	ash_release(p);
}

/* Nothing is free behind the span. */
void path_hemmed_span(void)
{
	struct run behind;
	struct chunk *c;

	path_take();
	memset(step_block, 1, step_size);
	c = map_find(step_block);
	behind = (struct run){c->region, c->index + c->span_chunks};
	(void)region_claim_at(behind, 1);
}

void path_roomy_span(void)
{
	/* A region of its own, free throughout: the blocks go there. */
	ash_release(ash_alloc(64 * CHUNK_SIZE));
	for (unsigned i = 0; i < 12; i++)
		(void)ash_alloc(step_size), steps_held++;
	path_take();
}

/* More is kept than may stay: the next slow operation gives it back. */
void path_period_over(void)
{
	void *p = ash_alloc(ash_defaults.retain * 2);

	memset(p, 1, ash_defaults.retain * 2);
	path_take();
	store_relaxed(&heap_default.floor, 2 * ash_defaults.retain / UNIT_SIZE);
	ash_release(p);
	store_relaxed(&heap_default.floor, 0);
	CHECK(load_relaxed(&heap_default.dirty) != 0);
}

/* Nothing of it was written: it is not kept. */
void path_sparse_span(void)
{
	path_take();
	*(char *)step_block = 1;
}

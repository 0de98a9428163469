/* SPDX-License-Identifier: MIT */
#include "backend/retain.h"

#include "backend/chunk.h"
#include "backend/region.h"
#include "pages.h"

/* Purges what of the chunk is free and dirty; returns the bytes. */
static size_t trim_chunk(struct heap *h, struct run run)
{
	struct chunk *c = run_chunk(run);
	bool clean;

	if (chunk_is(c, CHUNK_SLABS))
		return chunk_purge(h, c);
	if (region_is_clean(run, 1) || !region_claim_at(run, 1))
		return 0;
	/* The chunk is held, so no other thread changes it; it may have been cleaned before. */
	clean = region_is_clean(run, 1);
	if (clean || !pages_purge(run_base(run), CHUNK_SIZE, h->sharing)) {
		region_give(run, 1, clean);
		return 0;
	}
	heap_cleaned(h, CHUNK_UNITS);
	region_give(run, 1, true);
	return CHUNK_SIZE;
}

/* From the newest region to the oldest, which is used first. */
size_t heap_trim(struct heap *h, size_t keep)
{
	struct region *r = region_first(h), *next;
	size_t bytes = 0, i;

	while (r != NULL && (next = region_next(r)) != NULL)
		r = next;
	for (; r != NULL; r = r->previous) {
		i = load_acquire(&r->state) == REGION_LIVE ? load_relaxed(&r->chunks) : 0;
		while (i-- > 0) {
			if (load_relaxed(&h->dirty) * UNIT_SIZE <= keep)
				return bytes;
			bytes += trim_chunk(h, (struct run){r, i});
		}
	}
	return bytes;
}

static uint64_t half(const struct heap *h)
{
	return h->options->retain / 2 / UNIT_SIZE;
}

/* Purges until at most so many units are retained; records what cannot be purged. */
static void retain_down(struct heap *h, uint64_t units)
{
	size_t bytes = heap_trim(h, units * UNIT_SIZE);
	uint64_t left;

	if (bytes == 0 && load_relaxed(&h->locked) != 0)
		(void)region_trim(h); /* locked memory cannot be purged, but unmapped */
	left = load_relaxed(&h->dirty);
	store_relaxed(&h->refused, bytes == 0 && left > units ? left - units : 0);
}

/* Begins a period: so much is retained, none of it known to be in demand. */
static void period_begin(struct heap *h, uint64_t kept)
{
	store_relaxed(&h->period_low, kept);
	store_relaxed(&h->period_start, kept);
}

static void clock_start(struct heap *h, uint64_t kept)
{
	/* One thread starts the clock.  All else of it is a hint, relaxed: nothing pairs with this. */
	if (exchange_seq_cst(&h->running, CLOCK_UNNOTIFIED) != 0)
		return;
	store_relaxed(&h->clock, 0);
	period_begin(h, kept);
}

/* All of these are hints; races correct themselves within one period. */
bool retain_tick(struct heap *h, uint64_t n)
{
	uint64_t kept = load_relaxed(&h->dirty), refused = load_relaxed(&h->refused), clock, low;

	if (likely(load_relaxed(&h->running) == 0)) {
		if (likely(kept <= h->options->retain / UNIT_SIZE + refused))
			return false;
		clock_start(h, kept);
	} else if (kept <= half(h) + refused) {
		store_relaxed(&h->running, 0);
		return false;
	}
	clock = fetch_add_relaxed(&h->clock, n) % RETAIN_PERIOD;
	if (clock + n >= RETAIN_PERIOD) {
		low = load_relaxed(&h->period_low);
		period_begin(h, kept);
		if (low <= kept && low > half(h) + refused)
			retain_down(h, kept - low + half(h));
		store_relaxed(&h->running, CLOCK_UNNOTIFIED); /* for an owner that missed it */
	}
	return true;
}

void retain_fresh(struct heap *h, uint64_t units)
{
	uint64_t kept = load_relaxed(&h->dirty), least = half(h);

	if (kept > least + load_relaxed(&h->refused))
		retain_down(h, kept - least > units ? kept - units : least);
}

/* SPDX-License-Identifier: MIT */
#include "keep.h"

#include "chunk.h"
#include "pages.h"
#include "region.h"

/* Gives back what of the chunk is free and dirty; its bytes. */
static size_t trim_chunk(struct heap *h, struct run run)
{
	struct chunk *c = run_chunk(run);
	bool clean;

	if (chunk_is(c, CHUNK_SLABS))
		return chunk_purge(h, c);
	if (region_is_clean(run, 1) || !region_claim_at(run, 1))
		return 0;
	/* Now that we hold it, nobody else changes it; was it cleaned meanwhile? */
	clean = region_is_clean(run, 1);
	if (clean || !pages_purge(run_base(run), CHUNK_SIZE, h->sharing)) {
		region_give(run, 1, clean);
		return 0;
	}
	heap_cleaned(h, CHUNK_UNITS);
	region_give(run, 1, true);
	return CHUNK_SIZE;
}

size_t heap_trim(struct heap *h, size_t keep)
{
	struct region *r;
	size_t bytes = 0, i;

	for (r = load_acquire(&h->regions); r != NULL; r = r->next) {
		i = load_acquire(&r->state) == REGION_LIVE ? load_relaxed(&r->chunks) : 0;
		while (i-- > 0) {
			if (load_relaxed(&h->dirty) * UNIT_SIZE <= keep)
				return bytes;
			bytes += trim_chunk(h, (struct run){r, i});
		}
	}
	return bytes;
}

void heap_cleaned(struct heap *h, size_t units)
{
	uint64_t left = fetch_add_relaxed(&h->dirty, (uint64_t)0 - units) - units;

	if (left < load_relaxed(&h->low)) {
		store_relaxed(&h->low, left);
		store_relaxed(&h->clock, 0); /* what is kept is in demand: a new period */
	}
}

static uint64_t half(const struct heap *h)
{
	return h->options->retain / 2 / UNIT_SIZE;
}

/* Gives back until so many units are kept; what is refused is not asked for again. */
static void keep_down(struct heap *h, uint64_t units)
{
	size_t bytes = heap_trim(h, units * UNIT_SIZE);

	store_relaxed(&h->refused, bytes == 0 ? load_relaxed(&h->dirty) - units : 0);
}

/* All of this are hints: what a race spoils is right again a period later. */
bool keep_tick(struct heap *h, uint64_t n)
{
	uint64_t kept = load_relaxed(&h->dirty), most, clock, low;

	most = h->options->retain / UNIT_SIZE + load_relaxed(&h->refused);
	if (likely(kept <= most))
		return false;
	clock = fetch_add_relaxed(&h->clock, n) % KEEP_PERIOD;
	if (clock + n >= KEEP_PERIOD) {
		low = load_relaxed(&h->low);
		store_relaxed(&h->low, kept);
		if (low <= kept && low > most)
			keep_down(h, kept - low + half(h));
	}
	if (load_relaxed(&h->hurry) == 0)
		return false;
	fetch_add_relaxed(&h->hurry, ~(uint64_t)0); /* should it go below 0: a long hurry */
	return true;
}

void keep_fresh(struct heap *h, uint64_t units)
{
	uint64_t kept = load_relaxed(&h->dirty), least = half(h);

	fetch_add_relaxed(&h->hurry, units * KEEP_HURRY);
	if (kept <= least + load_relaxed(&h->refused))
		return;
	keep_down(h, kept - least > units ? kept - units : least);
}

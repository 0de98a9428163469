/* SPDX-License-Identifier: MIT */
/* Giving memory back on request. */
#include "ashlar.h"
#include "fork.h"
#include "owner.h"
#include "pages.h"
#include "region.h"

/* Purges one free dirty chunk; its bytes. */
static size_t trim_chunk(struct heap *h, struct run run)
{
	size_t bytes = 0;

	if (region_is_clean(run, 1) || !region_claim_at(run, 1))
		return 0;
	/* Now that we hold it, nobody else changes it; was it cleaned meanwhile? */
	if (!region_is_clean(run, 1) &&
	    pages_purge(run_base(run), CHUNK_SIZE, h->sharing)) {
		heap_cleaned(h, CHUNK_UNITS);
		bytes = CHUNK_SIZE;
	}
	region_give(run, 1, bytes > 0 || region_is_clean(run, 1));
	return bytes;
}

static size_t trim_region(struct heap *h, struct region *r, size_t keep)
{
	size_t bytes = 0, i;

	for (i = load_relaxed(&r->chunks); i-- > 0;) {
		struct run run = {r, i};
		struct chunk *c = region_chunk(r, i);

		if (load_relaxed(&h->dirty) * UNIT_SIZE <= keep)
			break;
		if (chunk_is(c, CHUNK_SLABS))
			bytes += chunk_purge(h, c);
		else if (bits_all(r->free, i, 1))
			bytes += trim_chunk(h, run);
	}
	return bytes;
}

size_t heap_trim(struct heap *h, size_t keep)
{
	struct region *r;
	size_t bytes = 0;

	for (r = load_acquire(&h->regions); r != NULL; r = r->next)
		if (load_acquire(&r->state) == REGION_LIVE)
			bytes += trim_region(h, r, keep);
	return bytes;
}

size_t heap_give_back(struct heap *h, struct owner *o, size_t keep)
{
	size_t bytes;

	(void)owner_reap(h, o);
	if (o != NULL) {
		owner_collect_all(o);
		owner_shrink(o);
	}
	bytes = heap_trim(h, keep);
	if (keep == 0)
		(void)region_trim(h);
	return bytes;
}

size_t ash_trim(size_t keep)
{
	struct owner *o = seat_take();
	size_t bytes = heap_give_back(&heap_default, o, keep);

	if (o != NULL)
		seat_give(o);
	return bytes;
}

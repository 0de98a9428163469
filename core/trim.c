/* SPDX-License-Identifier: MIT */
/* Giving memory back on request. */
#include "ashlar.h"
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
	    pages_purge(run_base(run), CHUNK_SIZE, PAGES_PRIVATE)) {
		heap_cleaned(h, CHUNK_UNITS);
		bytes = CHUNK_SIZE;
	}
	region_give(run, 1, bytes > 0 || region_is_clean(run, 1));
	return bytes;
}

size_t ash_trim(size_t keep)
{
	struct heap *h = &heap_default;
	struct owner *o = seat_take();
	size_t bytes = 0, i;
	struct region *r;

	if (o != NULL) {
		owner_collect_all(o);
		owner_shrink(o);
		seat_give(o);
	}
	for (r = load_acquire(&h->regions); r != NULL; r = r->next) {
		if (load_acquire(&r->state) != REGION_LIVE)
			continue;
		for (i = 0; i < r->chunks; i++) {
			struct run run = {r, i};
			struct chunk *c = region_chunk(r, i);

			if (load_relaxed(&h->dirty) * UNIT_SIZE <= keep)
				return bytes;
			if (chunk_is(c, CHUNK_SLABS))
				bytes += chunk_purge(h, c);
			else if (!chunk_is(c, CHUNK_SPAN))
				bytes += trim_chunk(h, run);
		}
	}
	if (keep == 0)
		(void)region_trim(h);
	return bytes;
}

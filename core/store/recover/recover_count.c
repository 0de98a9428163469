/* SPDX-License-Identifier: MIT */
#include "store/allocator.h"
#include "store/recover/recover.h"

#include "store/recover/builders.h"

/* Counts the units in use, and those that are free and dirty, in the format of heap.both. */
static uint64_t count(struct heap *h)
{
	struct region *r = load_acquire(&h->regions);
	uint64_t now = 0;
	size_t i, n;

	for (i = 0; i < load_relaxed(&r->chunks); i += n) {
		const struct chunk *c = region_chunk(r, i);

		n = 1;
		if (bits_all(r->free, i, 1)) {
			now += region_dirty((struct run){r, i}, 1) * CHUNK_UNITS;
		} else if (!bits_all(r->known, i, 1)) {
			continue;
		} else if (chunk_is(c, CHUNK_SPAN)) {
			n = load_relaxed(&c->span_chunks);
			now += n * CHUNK_UNITS * HEAP_USED;
			n += n == 0;
		} else if (chunk_is(c, CHUNK_SLABS)) {
			uint64_t units = load_acquire(&c->units); /* pairs with chunk_put */

			now += bits_count(units & ~load_relaxed(&c->clean));
			now += (CHUNK_UNITS - bits_count(units)) * HEAP_USED;
		}
	}
	return now;
}

bool units_recount(struct store *s)
{
	enum { ATTEMPTS = 32 };
	struct heap *h = &s->heap;
	bool quiet = building_quiet(s);
	uint64_t before, now;
	unsigned i;

	for (i = 0; i < ATTEMPTS; i++) {
		before = load_acquire(&h->both); /* read before the units are counted; pairs with nothing */
		now = count(h);
		if (now == before)
			return true;
		if (cas_acq_rel(&h->both, &before, now)) {
			heap_peaks(h, now);
			return quiet;
		}
	}
	return false;
}

/* SPDX-License-Identifier: MIT */
#include "front/find.h"

#include "backend/chunk.h"
#include "backend/heap.h"
#include "backend/map.h"
#include "backend/region.h"
#include "memory.h"
#include "slab/slab.h"
#include "thread/seat.h"

static bool records_hold(const void *p)
{
	struct heap *h = &heap_default;

	return (uintptr_t)p - (uintptr_t)h < sizeof *h || map_holds(p) || (SEATED && owner_contains(h, p)) ||
	       region_metadata_holds(h, p);
}

/*
 * The span around an address.  Chunks inside a span are CHUNK_FREE, or were never used:
 * searches backwards for its first one, by the map, as a record that was never used does
 * not know its region.
 */
static void find_span(const void *p, struct found *f)
{
	char *at = (char *)((uintptr_t)p & ~(uintptr_t)(CHUNK_SIZE - 1));
	struct chunk *c;
	size_t back;

	for (back = 0; (c = map_guess(at - (back << CHUNK_SHIFT))) != NULL; back++) {
		if (chunk_is(c, CHUNK_FREE))
			continue;
		if (chunk_is(c, CHUNK_SPAN) && back < load_relaxed(&c->span_chunks)) {
			f->chunk = c;
			f->start = at - (back << CHUNK_SHIFT);
			f->size = load_relaxed(&c->span_bytes);
		}
		return;
	}
}

static void find_slot(const void *p, struct found *f)
{
	size_t base = (size_t)load_relaxed(&f->slab->base), slots = load_relaxed(&f->slab->slots);
	size_t size = load_relaxed(&f->slab->slot_size);
	/* Signed: what is before the first slot, and so less than one (slab_gap), is nearest to that. */
	size_t index = (size_t)((int64_t)((size_t)p - base) / (int64_t)size);

	f->start = (char *)base + (index < slots ? index : slots - 1) * size;
	f->size = size;
}

void find_address(const void *p, struct found *f)
{
	struct chunk *c = map_guess(p);

	memset(f, 0, sizeof *f);
	if (c == NULL) {
		f->place = !SMALL && records_hold(p) ? ASH_RECORDS : ASH_FOREIGN;
		return;
	}
	if (!chunk_is(c, CHUNK_SLABS)) {
		find_span(p, f);
	} else if (slab_find(c, p, &f->slab)) {
		f->chunk = c;
		find_slot(p, f);
	} else {
		f->slab = NULL;
	}
	f->place = (size_t)((const char *)p - f->start) >= f->size ? ASH_UNUSED
		   : f->slab != NULL				   ? ASH_FREE
								   : ASH_TAKEN;
}

/* SPDX-License-Identifier: MIT */
#include "front/diagnose.h"

#include "backend/heap.h"
#include "backend/map.h"
#include "backend/region.h"
#include "slab/slab.h"
#include "thread/seat.h"

static bool static_holds(const void *p)
{
	return (uintptr_t)p - (uintptr_t)&heap_default < sizeof heap_default;
}

/* The bytes of the span that contains the address; 0: none. */
static size_t span_around(const struct region *r, const void *p)
{
	size_t i = (size_t)((const char *)p - r->base) >> CHUNK_SHIFT, first;

	/* Chunks inside a span are CHUNK_FREE: search backwards for its first one. */
	for (first = i + 1; first-- > 0;) {
		struct chunk *c = region_chunk(r, first);

		if (chunk_is(c, CHUNK_SPAN))
			return first + c->span_chunks > i ? c->span_bytes : 0;
		if (chunk_is(c, CHUNK_SLABS))
			break;
	}
	return 0;
}

_Noreturn void diagnose(enum call call, const void *p)
{
	struct chunk *c = map_find(p);
	struct heap *h = c == NULL ? &heap_default : c->region->heap;
	struct region *r = region_of(h, p);
	const char *fault = call <= CALL_RELEASE_SIZED ? "double free" : "block already released";
	struct slab *s;
	size_t bytes = 0;
	uint64_t index;
	bool start = false;

	if (heap_hooks_now() != NULL)
		heap_hooks_now()->misuse(call, p);
	if (r == NULL) {
		fault = "not a block of this allocator";
		if (region_metadata_holds(h, p) || map_holds(p) || (SEATED && owner_contains(h, p)) ||
		    static_holds(p))
			fault = "pointer to the allocator's own records";
		misuse_report(call, p, fault, 0);
	}
	c = region_chunk(r, (size_t)((const char *)p - r->base) >> CHUNK_SHIFT);
	if (!chunk_is(c, CHUNK_SLABS)) {
		bytes = span_around(r, p);
		start = p == c->base;
	} else if (slab_find(c, p, &s)) {
		bytes = s->slot_size;
		start = slab_index(s, p, &index);
	}
	if (bytes == 0)
		fault = "memory already returned";
	else if ((uintptr_t)p % 8 != 0)
		fault = "misaligned pointer";
	else if (!start)
		fault = "interior pointer";
	misuse_report(call, p, fault, bytes);
}

/* SPDX-License-Identifier: MIT */
#include "base/misuse.h"

#include "backend/heap.h"
#include "backend/map.h"
#include "thread/owner.h"
#include "panic.h"
#include "backend/region.h"
#include "slab/slab.h"
#include "text.h"

_Noreturn void misuse_report(enum call call, const void *p, const char *fault, size_t bytes)
{
	static const char names[][14] = {"release", "release_sized", "resize", "usable_size",
					    "heap_destroy", "heap"};
	/* The longest name, fault and numbers make 117 bytes. */
	char text[160], *end = text;

	end = text_add(end, "ashlar: ");
	end = text_add(end, names[call]);
	end = text_add(end, "(0x");
	end = text_add_number(end, (uintptr_t)p, 16);
	end = text_add(end, "): ");
	end = text_add(end, fault);
	if (bytes > 0) {
		end = text_add(end, ", ");
		end = text_add_number(end, bytes, 10);
		end = text_add(end, "-byte block");
	}
	*end++ = '\n';
	panic_line(text, (size_t)(end - text));
}

static bool static_holds(const void *p)
{
	return (uintptr_t)p - (uintptr_t)&heap_default < sizeof heap_default;
}

/* The span that holds the address in its interior; 0: none, else its bytes. */
static size_t span_around(const struct region *r, const void *p)
{
	size_t i = (size_t)((const char *)p - r->base) >> CHUNK_SHIFT, first;

	/* Chunks inside a span have no kind: look back for its first one. */
	for (first = i + 1; first-- > 0;) {
		struct chunk *c = region_chunk(r, first);

		if (chunk_is(c, CHUNK_SPAN))
			return first + c->span_chunks > i ? c->span_bytes : 0;
		if (chunk_is(c, CHUNK_SLABS))
			break;
	}
	return 0;
}

_Noreturn void misuse(enum call call, const void *p)
{
	struct chunk *c = map_find(p);
	struct heap *h = c == NULL ? &heap_default : c->region->heap;
	struct region *r = region_of(h, p);
	const char *fault = call <= CALL_RELEASE_SIZED ? "double free" : "block already released";
	struct slab *s;
	size_t bytes = 0;
	uint64_t index;
	bool start = false;

	if (heap_hooks != NULL)
		heap_hooks->misuse(call, p);
	if (r == NULL) {
		fault = "not a block of this allocator";
		if (region_metadata_holds(h, p) || map_holds(p) || owner_holds(h, p) ||
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

_Noreturn void misuse_double(const struct slab *s, unsigned group, unsigned bit)
{
	misuse_report(CALL_RELEASE, s->base + (size_t)(group * GROUP_SLOTS + bit) * s->slot_size,
	       "double free", s->slot_size);
}

_Noreturn void misuse_heap(enum call call, const void *p)
{
	misuse_report(call, p, "not a block of this heap", 0);
}

_Noreturn void misuse_size(const void *p, size_t bytes)
{
	misuse_report(CALL_RELEASE_SIZED, p, "wrong size", bytes);
}

/* SPDX-License-Identifier: MIT */
#include "front/diagnose.h"

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

	return (uintptr_t)p - (uintptr_t)h < sizeof *h || map_holds(p) || owner_contains(h, p) ||
	       region_metadata_holds(h, p);
}

/*
 * Finds the span around an address.  Chunks inside a span are CHUNK_FREE, or were never used.  The search goes
 * backwards to the span's first chunk by the map, because a record that was never used does not know its region.
 */
static void find_span(const void *p, struct chunk *around, struct found *f)
{
	char *at = (char *)((uintptr_t)p & ~(uintptr_t)(CHUNK_SIZE - 1));
	struct chunk *c;
	size_t back;

	for (back = 0; (c = back == 0 ? around : map_guess(at - (back << CHUNK_SHIFT))) != NULL; back++) {
		const char *base = load_relaxed(&c->base);

		if (chunk_is(c, CHUNK_FREE))
			continue;
		if (back == 0) /* may be the record of a span in a region of its own, for any address in it */
			back = ((size_t)(at - base)) >> CHUNK_SHIFT;
		if (chunk_is(c, CHUNK_SPAN) && back < load_relaxed(&c->span_chunks) &&
		    at - (back << CHUNK_SHIFT) == base) {
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
	/* Signed: an address before the first slot, which is nearest to that slot, is less than a slot away (slab_gap). */
	size_t index = (size_t)((int64_t)((size_t)p - base) / (int64_t)size);

	f->start = (char *)base + (index < slots ? index : slots - 1) * size;
	f->size = size;
}

void find_address(const void *p, struct found *f)
{
	struct chunk *c = map_around(p);

	memset(f, 0, sizeof *f);
	if (c == NULL) {
		f->place = records_hold(p) ? ASH_RECORDS : ASH_FOREIGN;
		return;
	}
	if (!chunk_is(c, CHUNK_SLABS)) {
		find_span(p, c, f);
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

#if !IS_AMALGAMATION
__attribute__((weak)) void ash_diagnose_nearest(const void *p, struct found *out)
{
	(void)p, (void)out;
}
#endif

#if IS_MALLOC && !HAS_HEAPS
/*
 * The function of libashlar.so, if the process has it.  A program that was linked with -lashlar_malloc before
 * -lashlar has its heaps from libashlar.so, but ash_release and similar calls from this library.
 */
__attribute__((weak)) struct ash_heap *ash_heap_of(const void *p);

static bool is_of_libashlar(const void *p)
{
	return ash_heap_of != NULL && ash_heap_of(p) != NULL;
}
#else
#define is_of_libashlar(p) false
#endif

_Noreturn void diagnose(const char *call, const void *p)
{
	const char *fault = call_again(call);
	struct found f;

	if (heap_hooks_now() != NULL)
		heap_hooks_now()->misuse(call, p);
	find_address(p, &f);
	if (f.place == ASH_FOREIGN && is_of_libashlar(p)) {
		fault = "block of a heap of libashlar; is -lashlar behind -lashlar_malloc?";
	} else if (f.place == ASH_FOREIGN) {
		fault = "not a block of this allocator";
		ash_diagnose_nearest(p, &f);
	} else if (f.place == ASH_RECORDS) {
		fault = "pointer to the allocator's own records";
	} else if (f.start == NULL) {
		fault = "memory already returned";
	} else if ((uintptr_t)p % 8 != 0) {
		fault = "misaligned pointer";
	} else if (f.place == ASH_UNUSED) {
		fault = "not in a block";
	} else if (p != f.start) {
		fault = "interior pointer";
	}
	misuse_report(call, p, fault, f.start, f.size);
}

void diagnose_called(const char *name, const void *p)
{
	if (!seat_is_missing(seat.self))
		misuse_called(name, p);
}

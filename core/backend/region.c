/* SPDX-License-Identifier: MIT */
#include "backend/region.h"

#include "backend/map.h"
#include "backend/metadata.h"
#include "backend/region_advice.h"
#include "memory.h"
#include "pages.h"

#define STEP_MAX    ((size_t)512) /* chunks: the heap grows by at most 1 GiB at a time   */
#define LOCKED_PART 32		  /* a locked heap reserves ahead at most 1/32 of itself */

/* Counts before reserving, or two threads could together exceed the cap. */
static bool cap_take(struct heap *h, size_t n)
{
	uint64_t cap = h->options->cap, reserved = load_relaxed(&h->reserved);

	do {
		/* A cap of 0 is none.  So many chunks that their bytes overflow have no mapping. */
		if (cap - 1 < ((reserved + n) << CHUNK_SHIFT) - 1)
			return false;
		/* A count, which publishes nothing: its acquire pairs with nothing. */
	} while (!cas_acquire(&h->reserved, &reserved, reserved + n));
	return true;
}

static __attribute__((noinline)) void cap_give(struct heap *h, size_t n)
{
	fetch_add_relaxed(&h->reserved, (uint64_t)0 - n);
}

/* For its holder: the record has no memory from now on, and any thread may claim it. */
static __attribute__((noinline)) void region_vacate(struct region *r)
{
	store_relaxed(&r->base, (char *)NULL);
	store_relaxed(&r->chunks, (size_t)0);
	/* Pairs with the compare-and-swap in metadata_make. */
	store_release(&r->state, REGION_VACANT);
}

/*
 * A new region of n chunks.  The first `claimed` belong to the caller, so the
 * thread that grows the heap is guaranteed to get chunks.
 */
static struct region *region_create(struct heap *h, size_t n, size_t alignment, size_t claimed,
				    bool slabs)
{
	struct region *r;
	char *base;

	/* A store has one region; its words for the cap may be forged by other processes. */
	if (h->sharing != PAGES_PRIVATE || !cap_take(h, n))
		return NULL;
	/* First the addresses: metadata is never unmapped, so a failed request must make none. */
	base = pages_reserve(n << CHUNK_SHIFT, alignment << CHUNK_SHIFT, PAGES_PRIVATE);
	r = base == NULL ? NULL : metadata_make(h, n, slabs);
	if (r != NULL) {
		/* Relaxed, as all stores to the two: walks may read them at any time. */
		store_relaxed(&r->base, base);
		store_relaxed(&r->chunks, n);
		if (map_enter(r)) {
			bits_release(r->clean, 0, n);
			bits_release(r->free, claimed, n - claimed);
			store_release(&r->state, REGION_LIVE);
			return r;
		}
		region_vacate(r); /* the metadata is kept for the next attempt */
	}
	if (base != NULL)
		(void)pages_release(base, n << CHUNK_SHIFT);
	cap_give(h, n);
	return NULL;
}

static struct run run_find(struct heap *h, size_t n, size_t alignment, bool for_slabs)
{
	struct run run = {NULL, 0};
	struct region *r;

	for (r = region_first(h); r != NULL; r = region_next(r)) {
		size_t first, offset;

		if (load_acquire(&r->state) != REGION_LIVE || (for_slabs && r->remote == NULL))
			continue;
		do {
			offset = (size_t)0 - ((uintptr_t)load_relaxed(&r->base) >> CHUNK_SHIFT);
			first = bits_find(r->free, load_relaxed(&r->chunks), n, alignment, offset);
			/* A failed claim means that another thread took chunks: search again. */
		} while (first != BITS_NONE && !bits_claim(r->free, first, n));
		if (first == BITS_NONE)
			continue;
		run.region = r;
		run.first = first;
		/*
		 * The region may have been retired and reused at another address since
		 * its base was read; now that chunks of it are held, it stays.
		 */
		if ((((uintptr_t)run_base(run) >> CHUNK_SHIFT) & (alignment - 1)) == 0)
			return run;
		bits_release(r->free, first, n);
		run.region = NULL;
		run.first = 0; /* the run of a new region, see region_claim */
	}
	return run;
}

struct run region_claim(struct heap *h, size_t n, size_t alignment, bool for_slabs)
{
	struct run run = run_find(h, n, alignment, for_slabs);
	bool slabs = for_slabs || (n < SPAN_REGION && alignment == 1);
	size_t step;

	if (run.region != NULL)
		return run;
	/*
	 * Doubling the heap keeps mappings few, and 1.5 times the size of a large span
	 * lets it grow in place; halving the step on failure copes with tight limits.
	 * Locked memory is resident at once, so little of it is reserved ahead.
	 */
	step = n + n / 2;
	if (slabs) {
		step = load_relaxed(&h->reserved);
		if (step == 0)
			step = h->options->initial >> CHUNK_SHIFT;
		step = step < STEP_MAX ? step : STEP_MAX;
	}
	if (step > n) {
		uint64_t locked = pages_are_locked();

		store_relaxed(&h->locked, locked);
		if (locked != 0)
			step = n + (for_slabs ? load_relaxed(&h->reserved) / LOCKED_PART : 0);
	}
	for (;; step /= 2) {
		step = step > n ? step : n;
		run.region = region_create(h, step, alignment, n, slabs);
		if (run.region != NULL || (step == n && region_trim(h) == 0))
			return run;
	}
}

bool region_claim_at(struct run at, size_t n)
{
	/* Relaxed: a region that is retired meanwhile has no free chunk to claim. */
	return at.first + n <= load_relaxed(&at.region->chunks) &&
	       bits_claim(at.region->free, at.first, n);
}

void region_give(struct run run, size_t n, bool clean)
{
	if (clean)
		bits_release(run.region->clean, run.first, n);
	else
		bits_clear(run.region->clean, run.first, n);
	bits_release(run.region->free, run.first, n);
}

bool region_is_clean(struct run run, size_t n)
{
	return bits_all(run.region->clean, run.first, n);
}

size_t region_dirty(struct run run, size_t n)
{
	return bits_unset(run.region->clean, run.first, n);
}

void region_set(struct region *r, struct region *at, struct heap *h, char *base, size_t n,
		size_t remote_stride)
{
	metadata_init(r, at, h, n, true, remote_stride);
	r->next = r->previous = NULL;
	r->base = base;
	r->chunks = n;
	r->state = REGION_LIVE;
}

void region_open(struct region *r)
{
	bits_release(r->clean, 0, r->chunks);
	bits_release(r->free, 0, r->chunks);
}

static bool region_retire(struct heap *h, struct region *r)
{
	size_t n = load_relaxed(&r->chunks), dirty;

	/* 0: another thread retired it since the state was read. */
	if (n == 0 || !bits_all(r->free, 0, n) || !bits_claim(r->free, 0, n))
		return false;
	if (load_relaxed(&r->chunks) != n) {
		/* Other threads retired it and reused it with more chunks since n was read. */
		bits_release(r->free, 0, n);
		return false;
	}
	/* All chunks are claimed by this thread, so no other holds any part of the region. */
	dirty = region_dirty((struct run){r, 0}, n);
	store_release(&r->state, REGION_CLAIMED);
	map_leave(r);
	if (!pages_release(r->base, n << CHUNK_SHIFT)) {
		/* munmap failed; if the map cannot be restored, the chunks stay claimed. */
		if (map_enter(r)) {
			store_release(&r->state, REGION_LIVE);
			bits_release(r->free, 0, n);
		}
		return false;
	}
	heap_cleaned(h, dirty * CHUNK_UNITS, 0);
	cap_give(h, n);
	bits_clear(r->clean, 0, n);
	if (!SMALL)
		region_advised((struct run){r, 0}, n, ADVICE_NONE); /* the next mapping has no advice */
	region_vacate(r);
	return true;
}

size_t region_trim(struct heap *h)
{
	size_t bytes = 0;
	struct region *r;

	for (r = region_first(h); r != NULL && h->sharing == PAGES_PRIVATE; r = region_next(r)) {
		size_t n = load_relaxed(&r->chunks);

		if (load_acquire(&r->state) == REGION_LIVE && region_retire(h, r))
			bytes += n << CHUNK_SHIFT;
	}
	return bytes;
}

struct region *region_of(struct heap *h, const void *p)
{
	struct region *r;

	for (r = region_first(h); r != NULL; r = region_next(r))
		if (load_acquire(&r->state) == REGION_LIVE &&
		    (uintptr_t)p - (uintptr_t)load_relaxed(&r->base) <
			    load_relaxed(&r->chunks) << CHUNK_SHIFT)
			return r;
	return NULL;
}

bool region_metadata_holds(struct heap *h, const void *p)
{
	struct region *r;

	for (r = region_first(h); r != NULL; r = region_next(r))
		if ((uintptr_t)p - (uintptr_t)r < r->metadata)
			return true;
	return false;
}

/* SPDX-License-Identifier: MIT */
#include "backend/region.h"

#include "backend/hold.h"
#include "backend/shared.h"
#include "pages.h"

#define STEP_MAX    ((size_t)512) /* chunks: the heap grows by at most 1 GiB at a time   */
#define LOCKED_PART 32		  /* a locked heap reserves ahead at most 1/32 of itself */

/* Claims n chunks of the region. */
static bool run_claim(struct region *r, size_t first, size_t n)
{
	struct run run = {r, first};
	bool claimed;

	hold_run(run, n, true);
	claimed = bits_claim(r->free, first, n);
	if (!claimed)
		hold_run(run, n, false);
	return claimed;
}

static struct run run_find(struct heap *h, size_t n, size_t alignment, bool for_slabs)
{
	struct run run = {NULL, 0};
	struct region *r;

	for (r = region_first(h); r != NULL; r = region_next(r)) {
		size_t first, offset;

		if (load_acquire(&r->state) != REGION_LIVE || (for_slabs && r->remote == NULL) ||
		    region_alone(r) != 0)
			continue;
		do {
			offset = (size_t)0 - ((uintptr_t)load_relaxed(&r->base) >> CHUNK_SHIFT);
			first = bits_find(r->free, load_relaxed(&r->chunks), n, alignment, offset);
			/* A failed claim means that another thread took chunks: search again. */
		} while (first != BITS_NONE && !run_claim(r, first, n));
		if (first == BITS_NONE)
			continue;
		run.region = r;
		run.first = first;
		/*
		 * The region may have been retired and reused at another address, or for one span, since the
		 * search began.  Now that this thread holds chunks of the region, it stays.
		 */
		if ((((uintptr_t)run_base(run) >> CHUNK_SHIFT) & (alignment - 1)) == 0 && region_alone(r) == 0)
			return run;
		bits_release(r->free, first, n); /* never in a store: no hold to drop */
		run.region = NULL;
		run.first = 0; /* as in the run of a new region, see region_claim */
	}
	return run;
}

/* Returns the number of chunks to reserve for n chunks of slabs, or of spans that may lie among slabs. */
static size_t step_for(struct heap *h, size_t n, bool slabs, bool for_slabs)
{
	size_t reserved = load_relaxed(&h->reserved), step = n + n / 2;
	bool locked = false;

	/*
	 * Doubling the heap keeps mappings few, 1.5 times the size of a large span lets it grow in place, and
	 * halving the step on failure copes with tight limits.
	 */
	if (slabs) {
		step = reserved == 0 ? h->options->initial >> CHUNK_SHIFT : reserved;
		step = step < STEP_MAX ? step : STEP_MAX;
	}
	/* Where the cap refuses, the system need not be asked. */
	if (!region_is_below_cap(h, n))
		return n;
	if (step > n || reserved != 0) {
		locked = pages_are_locked();
		store_relaxed(&h->locked, (uint64_t)locked);
	}
	if (reserved != 0)
		region_look_ahead(h, step > n ? step : n);
	if (region_short())
		step = slabs ? heap_used(h) / SHORT_PART : n;
	/* Locked memory is resident at once, so little of it is reserved ahead. */
	if (step > n && locked)
		step = n + (for_slabs ? reserved / LOCKED_PART : 0);
	return step;
}

/* Returns true if a span of these bytes, in n chunks, gets a region of its own, of exactly its bytes. */
static bool is_alone(size_t n, size_t bytes)
{
	return spans_are_apart() || n >= SPAN_ALONE || (region_exact() && (n << CHUNK_SHIFT) - bytes > bytes / SPARE_PART);
}

struct run region_claim_bytes(struct heap *h, size_t bytes, size_t alignment, bool for_slabs)
{
	size_t n = (bytes + CHUNK_SIZE - 1) >> CHUNK_SHIFT, step;
	bool apart = spans_are_apart() && !for_slabs && heap_kind(h)->own_pages;
	struct run run = apart ? (struct run){NULL, 0} : run_find(h, n, alignment, for_slabs);
	struct region_plan plan = {n, alignment, n, for_slabs || (n < SPAN_REGION && alignment == 1), 0};

	/* A store has one region; other processes may forge its words for the cap. */
	if (run.region != NULL || !heap_kind(h)->own_pages)
		return run;
	for (step = n >= SPAN_ALONE || apart ? n : step_for(h, n, plan.slabs, for_slabs);; step /= 2) {
		plan.chunks = step > n ? step : n;
		if (!for_slabs && is_alone(n, bytes)) {
			plan.chunks = n;
			plan.slabs = false;
			plan.alone = bytes;
		}
		run.region = region_create(h, &plan);
		if (run.region != NULL)
			return run;
		if (plan.chunks > n || (plan.alone == 0 && !for_slabs && is_alone(n, bytes)))
			continue; /* addresses have been short since this attempt */
		if (!region_may_help(h, bytes) || region_trim(h, true) == 0)
			return run;
	}
}

struct run region_claim(struct heap *h, size_t n, size_t alignment, bool for_slabs)
{
	return region_claim_bytes(h, n << CHUNK_SHIFT, alignment, for_slabs);
}

bool region_claim_at(struct run at, size_t n)
{
	/* Relaxed: a region that another thread retires at the same time has no free chunk to claim. */
	return at.first + n <= load_relaxed(&at.region->chunks) && run_claim(at.region, at.first, n);
}

/* Returns the number of bits and records of n chunks: a span's own region has one for all of it. */
static size_t records(struct run run, size_t n)
{
	return region_alone(run.region) != 0 ? 1 : n;
}

void region_give(struct run run, size_t n, enum left left)
{
	struct region *r = run.region;
	uint8_t *advice = &r->advice[run.first];
	size_t i, first = left == LEFT_HEAD;

	n = records(run, n);
	/* A chunk with a head was not clean when it was claimed, and its clean bit has not changed since. */
	if (heap_kind(r->heap)->own_pages && region_dirty(run, n) > 0)
		for (i = 0; i < n; i++)
			if ((load_relaxed(&advice[i]) & ADVICE_HEAD) != 0)
				store_relaxed(&advice[i], (uint8_t)(load_relaxed(&advice[i]) & ~ADVICE_HEAD));
	if (first)
		store_relaxed(advice, (uint8_t)(load_relaxed(advice) | ADVICE_HEAD));
	if (left == LEFT_DIRTY)
		first = n;
	bits_clear(r->clean, run.first, first);
	bits_release(r->clean, run.first + first, n - first);
	bits_release(r->free, run.first, n);
	hold_run(run, n, false);
	if (region_short() || region_alone(r) != 0)
		(void)region_cut(r->heap, r);
}

void region_know(struct run run, size_t n)
{
	struct region *r = run.region;

	if (unlikely(!heap_kind(r->heap)->own_records))
		shared_hooks_now()->run_made(r, run.first, n);
	bits_release(r->known, run.first, 1); /* pairs with region_next_known */
}

size_t region_next_known(const struct region *r, size_t i)
{
	size_t n = load_relaxed(&r->chunks);
	uint64_t word;

	for (; i < n; i = (i | 63) + 1) {
		word = load_acquire(&r->known[i / 64]) >> (i % 64); /* pairs with region_know */
		if (word != 0)
			return i + bits_lowest(word);
	}
	return SIZE_MAX;
}

bool region_is_clean(struct run run, size_t n)
{
	return bits_all(run.region->clean, run.first, records(run, n));
}

size_t region_dirty(struct run run, size_t n)
{
	return bits_unset(run.region->clean, run.first, records(run, n));
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

struct chunk *region_find(struct heap *h, const void *p)
{
	struct region *r = region_of(h, p);
	size_t i = r == NULL ? 0 : (size_t)((uintptr_t)p - (uintptr_t)r->base) >> CHUNK_SHIFT;

	return r != NULL && bits_all(r->known, i, 1) ? region_chunk(r, i) : NULL;
}

bool region_metadata_holds(struct heap *h, const void *p)
{
	struct region *r;

	for (r = region_first(h); r != NULL; r = region_next(r))
		if ((uintptr_t)p - (uintptr_t)r < r->metadata)
			return true;
	return false;
}

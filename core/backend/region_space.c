/* SPDX-License-Identifier: MIT */
#include "backend/region.h"

#include "backend/map.h"
#include "pages.h"

#define SHORT_MOST ((size_t)16384) /* most chunks that are tried to find out whether addresses are short */

/* A cap of 0 means no cap, and each other cap has room for a chunk.  Chunks whose bytes overflow have no mapping. */
static bool cap_allows(const struct heap *h, size_t chunks)
{
	return h->options->cap - 1 >= (chunks << CHUNK_SHIFT) - 1 || chunks <= 1;
}

bool region_is_below_cap(const struct heap *h, size_t chunks)
{
	return cap_allows(h, load_relaxed(&h->reserved) + chunks);
}

/* Counts the chunks before they are reserved, because otherwise two threads could together exceed the cap. */
static bool cap_take(struct heap *h, size_t n)
{
	uint64_t reserved = load_relaxed(&h->reserved);

	do {
		if (!cap_allows(h, reserved + n))
			return false;
		/* The word is a count and publishes nothing: the acquire pairs with nothing. */
	} while (!cas_acquire(&h->reserved, &reserved, reserved + n));
	heap_peak(&h->peak.reserved, reserved + n);
	return true;
}

static __attribute__((noinline)) void cap_give(struct heap *h, size_t n)
{
	fetch_add_relaxed(&h->reserved, (uint64_t)0 - n);
}

/* Gives up a held record: it has no memory from now on, and any thread may claim it. */
static __attribute__((noinline)) void region_vacate(struct region *r)
{
	store_relaxed(&r->base, (char *)NULL);
	store_relaxed(&r->chunks, (size_t)0);
	/* Pairs with the compare-and-swap in metadata_make. */
	store_release(&r->state, REGION_VACANT);
}

INTERNAL uint64_t region_addresses_short;

static uint64_t alone_now; /* hint: number of spans that are alone */

bool region_is_exact(void)
{
	return load_relaxed(&alone_now) < ALONE_MOST;
}

void region_look_ahead(const struct heap *h, size_t step)
{
	size_t more = (heap_used(h) + step) * SHORT_PART;

	if (more <= SHORT_MOST)
		store_relaxed(&region_addresses_short, !pages_left(more << CHUNK_SHIFT, load_relaxed(&h->locked) != 0));
}

bool region_may_help(const struct heap *h, size_t bytes)
{
	size_t reserved = load_relaxed(&h->reserved) << CHUNK_SHIFT;
	bool locked = load_relaxed(&h->locked) != 0;

	if (!heap_kind(h)->own_pages || h->options->cap != 0)
		return true; /* that cap, not the system's limit, may have been reached */
	if (bytes <= reserved)
		return true;
	/* Mostly it is addresses that are short: one call tells that. */
	if (!pages_left(bytes, true))
		return pages_left(bytes - reserved, true);
	return !pages_left(bytes, locked) && pages_left(bytes - reserved, locked);
}

/*
 * The kernel promises the memory of spans, because spans are written soon, unless the program wants sparse
 * blocks.
 */
static enum sharing span_sharing(const struct heap *h)
{
	return h->options->sparse ? PAGES_PRIVATE : PAGES_PROMISED;
}

struct region *region_create(struct heap *h, const struct region_plan *plan)
{
	size_t bytes = plan->alone != 0 ? plan->alone : plan->chunks << CHUNK_SHIFT;
	size_t n = plan->alone != 0 ? 1 : plan->chunks;
	/* The memory of slabs is taken in steps, most of which are not touched soon: no promise is needed. */
	enum sharing sharing = plan->slabs ? PAGES_PRIVATE : span_sharing(h);
	struct region *r;
	char *base;

	if (!cap_take(h, plan->chunks))
		return NULL;
	/* Reserve the addresses first: metadata is never unmapped, so a failed request must not make any. */
	base = pages_reserve(bytes, plan->alignment << CHUNK_SHIFT, sharing);
	if (base == NULL && plan->chunks < SPAN_ALONE && pages_may_cut())
		store_relaxed(&region_addresses_short, 1);
	r = base == NULL ? NULL : metadata_make(h, n, plan->slabs);
	if (r != NULL) {
		/* Relaxed, like all stores to these: walks may read them at any time. */
		store_relaxed(&r->base, base);
		store_relaxed(&r->chunks, n);
		if (!plan->slabs) {
			store_relaxed(&r->alone, plan->alone);
			store_relaxed(&region_chunk(r, 0)->region, r); /* for map_around */
		}
		if (map_enter(r)) {
			bits_release(r->clean, 0, n);
			bits_release(r->free, plan->claimed, plan->alone != 0 ? 0 : n - plan->claimed);
			store_release(&r->state, REGION_LIVE);
			if (plan->alone != 0)
				fetch_add_relaxed(&alone_now, 1);
			return r;
		}
		region_vacate(r); /* the metadata is kept for the next attempt */
	}
	if (base != NULL)
		(void)pages_release(base, bytes);
	cap_give(h, plan->chunks);
	return NULL;
}

void region_unmap(struct region *r)
{
	map_leave(r, 0, region_all(r));
	if (region_alone(r) != 0)
		fetch_add_relaxed(&alone_now, ~(uint64_t)0);
	if (!region_is_lost(r))
		(void)pages_release(r->base, region_bytes(r));
}

static ALWAYS_INLINE size_t cut(struct heap *h, struct region *r, bool tails)
{
	size_t n = load_relaxed(&r->chunks), bytes = region_bytes(r), first = n, dirty;
	size_t all = (bytes + CHUNK_SIZE - 1) >> CHUNK_SHIFT; /* of these bytes, which are compared below */
	char *from;

	if (!heap_kind(h)->own_pages)
		return 0;
	while (first > 0 && bits_all(r->free, first - 1, 1))
		first--;
	/* Fails also if another thread retired the region since its state was read: then n is 0. */
	if (first == n || (first > 0 && !tails) || !bits_claim(r->free, first, n - first))
		return 0;
	if (load_acquire(&r->chunks) != n || region_bytes(r) != bytes) {
		/* Other threads retired the region and reused it with more chunks since n was read. */
		bits_release(r->free, first, n - first);
		return 0;
	}
	/* This thread has claimed all these chunks, so no other thread holds any part of them. */
	dirty = bits_unset(r->clean, first, n - first);
	from = r->base + (first << CHUNK_SHIFT);
	bytes -= first << CHUNK_SHIFT;
	if (first == 0) {
		store_release(&r->state, REGION_CLAIMED);
		map_leave(r, 0, all);
	}
	if (!(first == 0 ? pages_release(from, bytes) : pages_cut(from, bytes))) {
		if (region_alone(r) != 0)
			(void)pages_purge(from, bytes, h->sharing); /* no other span uses it */
		/* If the map cannot be restored, the chunks stay claimed. */
		if (first > 0 || map_enter(r)) {
			if (first == 0)
				store_release(&r->state, REGION_LIVE);
			bits_release(r->free, first, n - first);
		}
		return 0;
	}
	heap_cleaned(h, dirty * CHUNK_UNITS, 0); /* the clean bits stay: the thread that maps chunks there sets them */
	region_unadvised((struct run){r, first}, n - first);
	if (first == 0) {
		if (region_alone(r) != 0)
			fetch_add_relaxed(&alone_now, ~(uint64_t)0);
		region_vacate(r);
	} else {
		/*
		 * In this order, because the chunks stay claimed until the store: until then the region
		 * cannot be retired, and its record cannot serve another region.
		 */
		map_leave(r, first, n);
		store_release(&r->chunks, first); /* pairs with the load after a claim */
	}
	cap_give(h, all - first);
	return bytes;
}

size_t region_cut(struct heap *h, struct region *r)
{
	return cut(h, r, true);
}

bool region_extend(struct region *r, size_t bytes)
{
	size_t had = region_alone(r), more = (bytes + CHUNK_SIZE - 1) / CHUNK_SIZE - region_all(r);

	if (had == 0 || !cap_take(r->heap, more))
		return false;
	if (pages_grow(r->base, had, bytes, span_sharing(r->heap))) {
		store_relaxed(&r->alone, bytes);
		if (map_enter(r))
			return true;
		store_relaxed(&r->alone, had); /* there was no memory for a leaf */
		(void)pages_cut(r->base + had, bytes - had);
	}
	cap_give(r->heap, more);
	return false;
}

bool region_shrink(struct region *r, size_t bytes)
{
	size_t had = region_alone(r), all = region_all(r);

	if (had == 0 || !pages_cut(r->base + bytes, had - bytes))
		return false;
	store_relaxed(&r->alone, bytes);
	map_leave(r, region_all(r), all);
	cap_give(r->heap, all - region_all(r));
	return true;
}

size_t region_trim(struct heap *h, bool tails)
{
	size_t bytes = 0;
	struct region *r;

	for (r = region_first(h); r != NULL; r = region_next(r))
		if (load_acquire(&r->state) == REGION_LIVE)
			bytes += cut(h, r, tails);
	return bytes;
}

/* SPDX-License-Identifier: MIT */
#include "front/span.h"

#include "backend/region.h"
#include "backend/region_advice.h"
#include "backend/retain.h"
#include "memory.h"
#include "pages.h"
#include "thread/gather.h"

static __attribute__((noinline)) size_t span_chunks_for(size_t bytes)
{
	return (bytes + CHUNK_SIZE - 1) >> CHUNK_SHIFT;
}

static struct run run_of(const struct chunk *c)
{
	struct run run = {c->region, c->index};

	return run;
}

/*
 * Accounts for a run taken into use: subtracts its retained chunks, and charges the
 * fresh ones to retention (retain_fresh).  zero: makes the run read zero, if it is not
 * known to.
 */
static void run_used(struct run run, size_t n, bool zero)
{
	struct heap *h = run.region->heap;
	size_t dirty = region_dirty(run, n);

	if (zero && dirty > 0)
		pages_zero(run_base(run), n << CHUNK_SHIFT, h->sharing);
	heap_cleaned(h, dirty * CHUNK_UNITS, n * CHUNK_UNITS);
	retain_fresh(h, (n - dirty) * CHUNK_UNITS);
}

/*
 * Returns the run to the region.  It is purged rather than retained if it is large and
 * its middle page is not resident: little was written, or its pages were moved away.
 * Then purging costs next to nothing, and a zeroed block from this run will need no
 * clearing.
 */
static void run_return(struct run run, size_t n)
{
	struct heap *h = run.region->heap;
	size_t bytes = n << CHUNK_SHIFT;
	char *base = run_base(run);
	bool clean = bytes > h->options->retain / 2 && !pages_there(base + bytes / 2) &&
		     pages_purge(base, bytes, h->sharing);

	heap_dirtied(h, clean ? 0 : n * CHUNK_UNITS, n * CHUNK_UNITS);
	region_give(run, n, clean);
	if (n >= SPAN_REGION && load_relaxed(&h->locked) != 0)
		(void)region_trim(h); /* locked memory cannot be purged, so unmap it */
}

/*
 * Sets the span's record, its advice and its tail.  A tail larger than a quarter of the
 * block is purged, as it may be resident from a larger or an earlier block and nothing
 * else will use it.  The last chunk gets no huge page if it is used to an eighth at most.
 */
static struct chunk *span_set(struct run run, size_t bytes, enum huge_use use)
{
	size_t n = span_chunks_for(bytes), size = span_size(bytes), tail = -size % CHUNK_SIZE;
	enum advice advice = huge_policy(run.region->heap, use, bytes);
	struct chunk *c = run_chunk(run);
	char *base = run_base(run);
	uint8_t *sparse;

	/* Relaxed: read concurrently by walks, map_find, and threads with a stale hint. */
	store_relaxed(&c->base, base);
	store_relaxed(&c->region, run.region);
	store_relaxed(&c->index, (uint32_t)run.first);
	store_relaxed(&c->span_chunks, (uint32_t)n);
	store_relaxed(&c->span_bytes, size);
	if (tail > bytes / RETAIN_PART)
		(void)pages_purge(base + size, tail, run.region->heap->sharing);
	if (advice == ADVICE_HUGE && n > 1)
		n -= tail > CHUNK_SIZE / 8 * 7;
	region_advise(run, n, advice);
	sparse = &run.region->advice[run.first];
	store_relaxed(sparse, (uint8_t)((*sparse & ~ADVICE_SPARSE) |
					(use == HUGE_ZEROED ? ADVICE_SPARSE : 0)));
	return c;
}

/* Publishes the span, whose record is set and whose run is accounted for. */
static void *span_publish(struct chunk *c)
{
	store_relaxed(&c->clean, 0); /* not tagged with a process yet, see shm/census.h */
	/* Pairs with chunk_is: the other members are set. */
	store_release(&c->kind, CHUNK_SPAN);
	return c->base;
}

void *span_alloc(struct heap *h, size_t bytes, size_t alignment, bool zero)
{
	size_t n = span_chunks_for(bytes);
	size_t chunks = ((alignment - 1) >> CHUNK_SHIFT) + 1; /* a power of two, too */
	bool last = h->id != 0; /* heaps that the program made have other seats: heaps/instance_alloc.c gathers */
	struct run run;
	struct chunk *c;

	for (; (run = region_claim(h, n, chunks, false)).region == NULL; last = true) {
		if (last)
			return NULL;
		gather_own();
	}
	if (!SMALL && !zero && n < SPAN_REGION)
		retain_lend(run, n);
	c = span_set(run, bytes, zero ? HUGE_ZEROED : HUGE_FILLED);
	run_used(run, n, zero); /* the tail was purged before */
	if (!zero && h->options->huge == ASH_HUGE_POPULATE)
		(void)pages_commit(c->base, c->span_bytes);
	return span_publish(c);
}

void span_of_chunk(struct heap *h, struct chunk *c, size_t bytes)
{
	chunk_hint(c, true); /* until it is published it has neither a slab nor a free unit */
	fetch_add_relaxed(&h->slab_chunks, ~(uint64_t)0);
	(void)span_publish(span_set(run_of(c), bytes, HUGE_FILLED));
}

bool span_release(struct chunk *c, void *p)
{
	uint64_t kind = CHUNK_SPAN;

	/* One of several releasing threads succeeds, and only if it is a span. */
	if (p != load_relaxed(&c->base) || !cas_acq_rel(&c->kind, &kind, CHUNK_FREE))
		return false;
	run_return(run_of(c), c->span_chunks);
	return true;
}

/* A span that grows will be written, unless it was allocated as a zeroed block. */
static enum huge_use use_of(const struct chunk *c)
{
	return (c->region->advice[c->index] & ADVICE_SPARSE) != 0 ? HUGE_ZEROED : HUGE_FILLED;
}

bool span_fit(struct chunk *c, size_t bytes)
{
	size_t have = c->span_chunks, n = span_chunks_for(bytes);
	struct run rest = run_of(c);

	rest.first += have;
	if (n > have) {
		if (!region_claim_at(rest, n - have))
			return false;
		run_used(rest, n - have, false);
	}
	/* span_bytes never exceeds the chunks: other threads may walk, and this one may die. */
	if (n < have)
		store_relaxed(&c->span_bytes, span_size(bytes));
	(void)span_set(run_of(c), bytes, use_of(c));
	/* A span that shrinks returns its last chunks. */
	rest.first -= have - n;
	if (n < have)
		run_return(rest, have - n);
	return true;
}

void *span_resize(struct chunk *c, void *p, size_t bytes)
{
	size_t n = span_chunks_for(bytes);
	struct run run;

	if (span_fit(c, bytes))
		return p;
	run = region_claim(c->region->heap, n, 1, false);
	if (run.region == NULL)
		return NULL;
	run_used(run, n, false);
	if (SMALL)
		memcpy(run_base(run), p, c->span_bytes);
	else
		pages_move(p, run_base(run), c->span_bytes);
	region_moved(run_of(c), run, c->span_chunks);
	p = span_publish(span_set(run, bytes, use_of(c)));
	(void)span_release(c, c->base);
	return p;
}

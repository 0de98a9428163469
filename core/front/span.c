/* SPDX-License-Identifier: MIT */
#include "front/span.h"

#include "backend/hold.h"
#include "backend/region.h"
#include "backend/retain.h"
#include "memory.h"
#include "pages.h"
#include "thread/refill.h"

static struct run run_of(const struct chunk *c)
{
	struct run run = {c->region, c->index};

	return run;
}

/*
 * The run's addresses may belong to another thread now (PAGES_LOST).  The run stays claimed, and counts as used, for
 * ever.  No other thing in the process is as rare.
 */
static bool run_lose(struct run run, size_t n)
{
	region_advised(run, region_alone(run.region) != 0 ? 1 : n, ADVICE_LOST);
	return true;
}

/* A span that grows is written soon, unless it was allocated as a zeroed block. */
static enum huge_use use_of(const struct chunk *c)
{
	return (c->region->advice[c->index] & ADVICE_SPARSE) != 0 ? HUGE_ZEROED : HUGE_FILLED;
}

/*
 * Sets the span's record, its advice and its tail.  A tail larger than a quarter of the block is purged, because a
 * tail may be resident from a larger or earlier block and nothing else will use it.  The last chunk gets no huge page
 * if at most an eighth of this chunk is used.  fresh: the clean bits of the run still hold, because the run was
 * claimed just now.
 */
static struct chunk *span_set(struct run run, size_t bytes, enum huge_use use, bool fresh)
{
	size_t n = run_chunks_for(bytes), size = span_size(bytes), tail = run_bytes(run, n) - size;
	enum advice advice = huge_policy(run.region->heap, use, bytes);
	struct chunk *c = run_chunk(run);
	char *base = run_base(run);
	uint8_t *sparse;

	region_know(run, n);
	if (!fresh)
		region_tells(run, n, false);
	/* Relaxed: read concurrently by walks, map_find, and threads with a stale hint. */
	store_relaxed(&c->base, base);
	store_relaxed(&c->region, run.region);
	store_relaxed(&c->index, (uint32_t)run.first);
	/*
	 * The span has no tag of a process yet (store/recover/census.h).  The tag is cleared before span_chunks is
	 * set, see store/file/image_check.c.
	 */
	if (!chunk_is(c, CHUNK_SPAN))
		store_relaxed(&c->clean, 0);
	signal_fence();
	store_relaxed(&c->span_chunks, (uint32_t)n);
	store_relaxed(&c->span_bytes, size);
	if (tail > bytes / RETAIN_PART &&
	    !(fresh && (region_alone(run.region) != 0 ||
			region_is_clean((struct run){run.region, run.first + n - 1}, 1))))
		(void)pages_purge(base + size, tail, run.region->heap->sharing);
	if (advice == ADVICE_HUGE && n > 1)
		n -= tail > CHUNK_SIZE / 8 * 7;
	region_advise(run, n, advice);
	sparse = &run.region->advice[run.first];
	store_relaxed(sparse, (uint8_t)((*sparse & ~ADVICE_SPARSE) |
					(use == HUGE_ZEROED ? ADVICE_SPARSE : 0)));
	return c;
}

/* Publishes a span after the record is set and the run is accounted for. */
static void *span_publish(struct chunk *c)
{
	/* Pairs with chunk_is: a thread that sees the kind sees the other members. */
	store_release(&c->kind, CHUNK_SPAN);
	return c->base;
}

static struct run span_claim(struct heap *h, size_t bytes, size_t alignment)
{
	size_t chunks = ((alignment - 1) >> CHUNK_SHIFT) + 1; /* a power of two, too */
	size_t size = span_size(bytes);
	struct run run = {NULL, 0};

	if (size >> CPU_ADDRESS_BITS != 0)
		return run;
	run = region_claim_bytes(h, size, chunks, false);
	/* Heaps that the program made have other seats: heaps/instance_alloc.c gathers for them. */
	if (run.region == NULL && h->id == 0 && region_may_help(h, size)) {
		gather_own();
		run = region_claim_bytes(h, size, chunks, false);
	}
	return run;
}

void *span_alloc(struct heap *h, size_t bytes, size_t alignment, bool zero)
{
	size_t n = run_chunks_for(bytes);
	struct run run;
	struct chunk *c;

	while ((run = span_claim(h, bytes, alignment)).region != NULL) {
		if (zero || n >= SPAN_REGION || region_alone(run.region) != 0 || retain_lend(run, n))
			break;
		run_used(run, n, 0);
		(void)run_lose(run, n);
	}
	if (run.region == NULL)
		return NULL;
	c = span_set(run, bytes, zero ? HUGE_ZEROED : HUGE_FILLED, true);
	run_used(run, n, zero ? span_size(bytes) : 0); /* the tail was purged before */
	if (!zero && h->options->huge == ASH_HUGE_POPULATE)
		(void)pages_commit(c->base, c->span_bytes);
	return span_publish(c);
}

void span_of_chunk(struct heap *h, struct chunk *c, size_t bytes)
{
	chunk_hint(c, 0, ROOM_LONGEST); /* the chunk has neither a slab nor a free unit until it is published */
	fetch_add_relaxed(&h->slab_chunks, ~(uint64_t)0);
	store_release(&c->kind, CHUNK_FREE); /* a chunk of slabs has no span's chunks, see store/file/image_check.c */
	(void)span_publish(span_set(run_of(c), bytes, HUGE_FILLED, false));
}

/* Only one of several releasing threads succeeds, and only if the chunk is a span. */
static bool span_unmake(struct chunk *c, void *p)
{
	uint64_t kind = CHUNK_SPAN;

	return p == load_relaxed(&c->base) && cas_acq_rel(&c->kind, &kind, CHUNK_FREE);
}

bool span_release(struct chunk *c, void *p)
{
	if (!span_is(c, p))
		return false;
	hold_run(run_of(c), load_relaxed(&c->span_chunks), true);
	/*
	 * Clears the tag first: a chunk that has the length and the process of a span is not free, see
	 * store/file/image_check.c.
	 */
	if (!heap_kind(c->region->heap)->own_records) {
		store_relaxed(&c->clean, 0);
		signal_fence();
	}
	if (!span_unmake(c, p))
		return false;
	run_leave(run_of(c), c->span_chunks, use_of(c));
	return true;
}

/* span_fit for a span in a region of its own. */
static bool alone_fit(struct chunk *c, size_t bytes)
{
	struct run run = run_of(c);
	size_t have = c->span_chunks, n = run_chunks_for(bytes), size = span_size(bytes);
	size_t mapped = region_alone(run.region), units = run_units(run, have);

	if (size > mapped && (size >> CPU_ADDRESS_BITS != 0 || !region_extend(run.region, size)))
		return false;
	if (n < have) {
		store_relaxed(&c->span_bytes, size);
		(void)region_shrink(run.region, size); /* otherwise the rest becomes the tail */
	}
	heap_cleaned(run.region->heap, 0, run_units(run, n) - units);
	(void)span_set(run, bytes, use_of(c), false);
	return true;
}

bool span_fit(struct chunk *c, size_t bytes)
{
	size_t have = c->span_chunks, n = run_chunks_for(bytes);
	struct run rest = run_of(c);

	if (span_size(bytes) == c->span_bytes)
		return true;
	if (region_alone(rest.region) != 0)
		return alone_fit(c, bytes);
	rest.first += have;
	if (n > have) {
		if (!region_claim_at(rest, n - have))
			return false;
		run_used(rest, n - have, 0);
	}
	/* span_bytes never exceeds the chunks, because other threads may walk and this thread may die. */
	if (n < have) {
		hold_run((struct run){rest.region, rest.first - (have - n)}, have - n, true);
		store_relaxed(&c->span_bytes, span_size(bytes));
	}
	(void)span_set(run_of(c), bytes, use_of(c), false);
	/* A span that shrinks returns its last chunks. */
	rest.first -= have - n;
	if (n < have)
		run_leave(rest, have - n, use_of(c));
	return true;
}

/*
 * Moves `bytes` of a run to another run, by pages if possible.  pages_move takes whole huge pages, so the part of the
 * last huge page in a span's own region is copied.
 */
static enum moved span_carry(struct run from, struct run to, size_t bytes)
{
	size_t whole = bytes;
	enum moved moved = PAGES_STAYED;

	if (((region_alone(from.region) | region_alone(to.region)) & (CHUNK_SIZE - 1)) != 0)
		whole &= ~(CHUNK_SIZE - 1);
	if (whole != 0)
		moved = pages_move(run_base(from), run_base(to), whole);
	if (moved == PAGES_LOST)
		return moved;
	memcpy(run_base(to) + whole, run_base(from) + whole, bytes - whole);
	region_moved(from, to, run_chunks_for(whole));
	return moved;
}

/* Moves the span to another place, by moving pages if possible. */
static void *span_move(struct chunk *c, size_t bytes, size_t alignment)
{
	size_t n = run_chunks_for(bytes), size = span_size(bytes), had = c->span_chunks, whole;
	struct run from = run_of(c), to;
	enum moved moved;
	void *p;

	if (size > c->span_bytes)
		size = c->span_bytes;
	whole = run_chunks_for(size);
	do {
		to = span_claim(from.region->heap, bytes, alignment);
		if (to.region == NULL)
			return NULL;
		run_used(to, n, 0);
		moved = span_carry(from, to, size);
	} while (moved == PAGES_LOST && run_lose(to, n));
	p = span_publish(span_set(to, bytes, use_of(c), false));
	/* A region of its own is not retained: it is unmapped, or purged and used by no other span. */
	if (span_unmake(c, c->base))
		run_return(from, had,
			   region_alone(from.region) != 0 || (moved == PAGES_MOVED && whole == had) ? LEFT_CLEAN : LEFT_DIRTY);
	return p;
}

void *span_resize(struct chunk *c, void *p, size_t bytes, size_t alignment)
{
	return ((uintptr_t)p & (alignment - 1)) == 0 && span_fit(c, bytes) ? p : span_move(c, bytes, alignment);
}

/* SPDX-License-Identifier: MIT */
#include "span.h"

#include "memory.h"
#include "pages.h"
#include "region.h"

#define HUGE_FROM ((size_t)4 << 20)

static size_t chunks_for(size_t bytes)
{
	return (bytes + CHUNK_SIZE - 1) >> CHUNK_SHIFT;
}

static struct run run_of(const struct chunk *c)
{
	struct run run = {c->region, c->index};

	return run;
}

/* Chunks of the run that are not known to be zero. */
static size_t run_dirty(struct run run, size_t n)
{
	size_t i, dirty = 0;

	for (i = 0; i < n; i++) {
		struct run one = {run.region, run.first + i};

		dirty += !region_is_clean(one, 1);
	}
	return dirty;
}

/* Takes the run out of the count of dirty memory; it is in use now. */
static void run_used(struct heap *h, struct run run, size_t n)
{
	size_t dirty = region_is_clean(run, n) ? 0 : run_dirty(run, n);

	if (dirty > 0)
		heap_cleaned(h, dirty * CHUNK_UNITS);
}

/* Makes the first `bytes` of the run zero; chunks known to be so are left alone. */
static void run_zero(struct run run, size_t bytes)
{
	size_t n = chunks_for(bytes), i;

	if (region_is_clean(run, n))
		return;
	for (i = 0; i < n; i++) {
		struct run one = {run.region, run.first + i};
		size_t left = bytes - (i << CHUNK_SHIFT);

		left = left < CHUNK_SIZE ? left : CHUNK_SIZE;
		if (region_is_clean(one, 1))
			continue;
		if (run.region->heap->sharing == PAGES_PRIVATE)
			pages_zero(run_base(one), left);
		else
			memset(run_base(one), 0, left);
	}
}

/* The run back to the region; at once purged if it is much of what may be kept. */
static void run_return(struct heap *h, struct run run, size_t n)
{
	bool much = n << CHUNK_SHIFT > h->options->retain / 2;

	if (much && pages_purge(run_base(run), n << CHUNK_SHIFT, h->sharing)) {
		region_give(run, n, true);
		return;
	}
	heap_dirtied(h, n * CHUNK_UNITS);
	region_give(run, n, false);
	heap_settle(h);
}

/* Huge pages at once where the block will be filled; never where it may stay sparse. */
static bool wants_huge(const struct heap *h, size_t bytes, bool zero)
{
	if (h->options->huge == ASH_HUGE_ALWAYS)
		return true;
	return h->options->huge == ASH_HUGE_DEFAULT && bytes >= HUGE_FROM && !zero;
}

/* By relaxed stores: others may walk over it. */
static void span_set(struct chunk *c, size_t n, size_t bytes)
{
	store_relaxed(&c->span_chunks, (uint32_t)n);
	store_relaxed(&c->span_bytes, span_size(bytes));
}

bool span_fit(struct chunk *c, size_t bytes)
{
	struct heap *h = c->region->heap;
	size_t have = c->span_chunks, n = chunks_for(bytes);
	struct run rest = {c->region, c->index + have};

	if (n < have) {
		/* Shrinks where it stands: the chunks behind go back. */
		rest.first = c->index + n;
		/* At no instant more bytes than chunks: others may walk, and we may die. */
		store_relaxed(&c->span_bytes, span_size(bytes));
		span_set(c, n, bytes);
		run_return(h, rest, have - n);
		return true;
	}
	if (n > have) {
		if (!region_claim_at(rest, n - have))
			return false;
		run_used(h, rest, n - have);
	}
	span_set(c, n, bytes);
	return true;
}

void *span_alloc(struct heap *h, size_t bytes, size_t alignment, bool zero)
{
	size_t n = chunks_for(bytes);
	struct run run;
	struct chunk *c;

	alignment = alignment <= CHUNK_SIZE ? 1 : alignment >> CHUNK_SHIFT;
	run = region_claim(h, n, alignment, false);
	if (run.region == NULL)
		return NULL;
	run_used(h, run, n);
	region_advise(run, n, wants_huge(h, bytes, zero));
	if (zero)
		run_zero(run, bytes);
	c = run_chunk(run);
	/* Relaxed: looked at by map_find, and by those with an old hint. */
	store_relaxed(&c->base, run_base(run));
	store_relaxed(&c->region, run.region);
	store_relaxed(&c->index, (uint32_t)run.first);
	store_relaxed(&c->clean, 0); /* nobody's yet, see census.h */
	span_set(c, n, bytes);
	/* Pairs with chunk_is: the rest is set. */
	store_release(&c->kind, CHUNK_SPAN);
	return c->base;
}

bool span_release(struct chunk *c, void *p)
{
	uint64_t kind = CHUNK_SPAN;

	/* Of several threads that release it, one wins this swap. */
	if (!span_is(c, p) || !swap_acq_rel(&c->kind, &kind, CHUNK_FREE))
		return false;
	run_return(c->region->heap, run_of(c), c->span_chunks);
	return true;
}

void *span_resize(struct chunk *c, void *p, size_t bytes)
{
	char *moved;

	if (span_fit(c, bytes))
		return p;
	moved = span_alloc(c->region->heap, bytes, CHUNK_SIZE, false);
	if (moved == NULL)
		return NULL;
	pages_move(p, moved, c->span_bytes);
	(void)span_release(c, p);
	return moved;
}

/* SPDX-License-Identifier: MIT */
#include "backend/retain.h"

#include "memory.h"
#include "pages.h"

#define HEAD_MOST ((size_t)512) /* chunks of a run that keeps its head: longer ones are clean as a whole */

__attribute__((noinline)) size_t run_chunks_for(size_t bytes)
{
	return (bytes + CHUNK_SIZE - 1) >> CHUNK_SHIFT;
}

size_t run_units(struct run run, size_t n)
{
	return SMALL ? n * CHUNK_UNITS : (run_bytes(run, n) + UNIT_SIZE - 1) >> UNIT_SHIFT;
}

enum left run_purge(struct run run, size_t n, enum huge_use use)
{
	static uint8_t row; /* hint: so many large ones were blank, one after the other */
	uint8_t before = load_relaxed(&row);
	struct heap *h = run.region->heap;
	size_t bytes = n << CHUNK_SHIFT, head = 0;
	char *base = run_base(run);
	bool own = heap_kind(h)->own_pages, blank;

	if (region_alone(run.region) != 0 || (IS_HARDENED && h == &heap_default))
		return LEFT_CLEAN; /* it will be unmapped; or its release has purged it */
	blank = !SMALL && own && use == HUGE_ZEROED && pages_blank(base + PAGE_SIZE, h->sharing);
	/* The small product looks at none: it retains nothing that is as large. */
	if (!SMALL && !blank && bytes > h->options->retain / 2) {
		/* In a row of blank ones the look is a fault: then one in four is looked at. */
		blank = (own && before >= 8 && before % 4 != 0) ||
			pages_blank(base + bytes / 2 + REGION_HEAD, h->sharing);
		store_relaxed(&row, (uint8_t)(blank ? before + 1 : 0));
	}
	if (blank && own && n < HEAD_MOST && huge_policy(h, use, bytes) != ADVICE_HUGE)
		head = REGION_HEAD;
	if (blank)
		return !pages_purge(base + head, bytes - head, h->sharing) ? LEFT_DIRTY
		       : head != 0					   ? LEFT_HEAD
										   : LEFT_CLEAN;
	if (!retain_is_full(h, n * CHUNK_UNITS) || !pages_purge(base, bytes, h->sharing))
		return LEFT_DIRTY;
	retain_gone(h, n * CHUNK_UNITS);
	return LEFT_CLEAN;
}

/* Makes the first bytes of the run read zero where they are not known to. */
static void run_zero(struct run run, size_t bytes)
{
	size_t n;

	if (SMALL) {
		if (!pages_zeroes(run_base(run) + PAGE_SIZE) || !pages_purge(run_base(run), bytes, PAGES_PRIVATE))
			memset(run_base(run), 0, bytes);
		return;
	}
	for (; bytes > 0; bytes -= n, run.first += run_chunks_for(n)) {
		n = bytes < CHUNK_SIZE ? bytes : CHUNK_SIZE;
		if (region_is_clean(run, 1))
			continue;
		if (region_has_head(run)) {
			memset(run_base(run), 0, REGION_HEAD);
			continue;
		}
		while (n < bytes && !region_is_clean((struct run){run.region, run.first + (n >> CHUNK_SHIFT)}, 1))
			n = bytes - n < CHUNK_SIZE ? bytes : n + CHUNK_SIZE;
		pages_zero(run_base(run), n, run.region->heap->sharing);
	}
}

void run_used(struct run run, size_t n, size_t zero)
{
	struct heap *h = run.region->heap;
	size_t dirty = region_dirty(run, n);

	/* Guarded memory that does not read zero is to be noticed, not cleared (front/guard.h). */
	if (zero != 0 && dirty > 0 && !(IS_HARDENED && h == &heap_default))
		run_zero(run, zero);
	heap_cleaned(h, dirty * CHUNK_UNITS, run_units(run, n));
	retain_fresh(h, run_units(run, n) - dirty * CHUNK_UNITS);
}

void run_return(struct run run, size_t n, enum left left)
{
	struct heap *h = run.region->heap;
	size_t dirty = left == LEFT_CLEAN ? 0 : left == LEFT_HEAD ? 1 : n;

	heap_dirtied(h, dirty * CHUNK_UNITS, run_units(run, n));
	region_give(run, n, left);
	if (n >= SPAN_REGION && load_relaxed(&h->locked) != 0)
		(void)region_trim(h, false); /* locked memory cannot be purged, so unmap it */
}

/* SPDX-License-Identifier: MIT */
#include "backend/retain.h"

#include "backend/hold.h"
#include "memory.h"
#include "pages.h"

#define HEAD_MOST ((size_t)512) /* chunks of a run that keeps its head; longer runs are cleaned as a whole */

__attribute__((noinline)) size_t run_chunks_for(size_t bytes)
{
	return (bytes + CHUNK_SIZE - 1) >> CHUNK_SHIFT;
}

size_t run_units(struct run run, size_t n)
{
	return (run_bytes(run, n) + UNIT_SIZE - 1) >> UNIT_SHIFT;
}

/*
 * Returns true if the page, in this chunk of a run that a span leaves, was not written.  In memory that
 * processes share the system tells that.  Elsewhere the contents tell it, if the chunk had no memory when the
 * span took it: its clean bit is from then.
 */
static bool page_is_untouched(struct run run, char *page, enum sharing sharing)
{
	if (heap_kind(run.region->heap)->own_pages &&
	    !(region_is_telling(run) && (region_is_clean(run, 1) || region_has_head(run))))
		return false;
	return pages_blank(page, sharing);
}

/* Returns true if little of the run was written. */
static bool run_is_blank(struct run run, size_t n)
{
	struct run middle = {run.region, run.first + n / 2};
	struct heap *h = run.region->heap;
	size_t bytes = n << CHUNK_SHIFT;
	char *base = run_base(run);

	if (heap_kind(h)->own_pages && page_is_untouched(run, base + PAGE_SIZE, h->sharing))
		return true;
	return bytes > h->options->retain / 2 &&
	       page_is_untouched(middle, base + bytes / 2 + REGION_HEAD, h->sharing);
}

/* Purges a blank run, perhaps without its head. */
static enum left run_purge(struct run run, size_t n, enum huge_use use)
{
	struct heap *h = run.region->heap;
	size_t bytes = n << CHUNK_SHIFT, head = 0;

	if (heap_kind(h)->own_pages && n < HEAD_MOST && huge_policy(h, use, bytes) != ADVICE_HUGE)
		head = REGION_HEAD;
	if (!pages_purge(run_base(run) + head, bytes - head, h->sharing))
		return LEFT_DIRTY;
	return head != 0 ? LEFT_HEAD : LEFT_CLEAN;
}

/* Returns how many chunks of a written run may be retained: all or 0 if memory is locked. */
static size_t run_stays(const struct heap *h, size_t n, enum huge_use use)
{
	bool huge = huge_policy(h, use, n << CHUNK_SHIFT) == ADVICE_HUGE;
	size_t room = (size_t)retain_room(h, n * CHUNK_UNITS, huge) / CHUNK_UNITS;

	if (room >= n)
		return n;
	return load_relaxed(&h->locked) != 0 ? 0 : room;
}

/* Returns the units that will be in use when `units` are not. */
static uint64_t used_without(const struct heap *h, uint64_t units)
{
	uint64_t used = load_relaxed(&h->used);

	return used > units ? used - units : 0;
}

SLOW void run_leave(struct run run, size_t n, enum huge_use use)
{
	struct heap *h = run.region->heap;
	enum left left = LEFT_DIRTY;
	size_t all = n, stay;

	if (region_alone(run.region) != 0 || heap_reads_zero(h)) {
		left = LEFT_CLEAN; /* the region will be unmapped, or the release has purged it */
	} else if (run_is_blank(run, n)) {
		left = run_purge(run, n, use);
	} else if ((stay = run_stays(h, n, use)) < n) {
		struct run rest = {run.region, run.first + stay};

		if (pages_purge(run_base(rest), (n - stay) << CHUNK_SHIFT, h->sharing)) {
			retain_gone(h, (n - stay) * CHUNK_UNITS, used_without(h, n * CHUNK_UNITS));
			left = LEFT_CLEAN;
			if (stay > 0) {
				run_return(rest, n - stay, LEFT_CLEAN);
				n = stay;
				left = LEFT_DIRTY;
			}
		}
	}
	run_return(run, n, left);
	hold_run(run, all, false); /* the run was given back in two parts */
}

/* How a chunk gets to read zero. */
enum zeroed { ZEROED, BY_CLEARING, BY_PURGING };

/*
 * Returns how the first chunk of the run gets to read zero in its first `bytes`; clears the chunk's head
 * here.
 */
static enum zeroed chunk_needs(struct run run, size_t bytes)
{
	struct heap *h = run.region->heap;
	bool own = heap_kind(h)->own_pages, told = !own || region_is_telling(run);

	region_tells(run, 1, true);
	if (region_is_clean(run, 1))
		return ZEROED;
	if (region_has_head(run)) {
		memset(run_base(run), 0, REGION_HEAD);
		return ZEROED;
	}
	if (!told || !pages_hollow(run_base(run), bytes, h->sharing))
		return BY_CLEARING;
	if (own) /* the chunk has no memory from now on, see page_is_untouched */
		bits_release(run.region->clean, run.first, 1);
	return BY_PURGING;
}

/*
 * Makes the first bytes of the run read zero where they are not known to read zero, in pieces as long as
 * possible.
 */
static void run_zero(struct run run, size_t bytes)
{
	char *from = run_base(run), *at = from, *end = at + bytes;
	enum zeroed was = ZEROED, is;

	for (; at < end; at += CHUNK_SIZE, run.first++) {
		is = chunk_needs(run, (size_t)(end - at) < CHUNK_SIZE ? (size_t)(end - at) : CHUNK_SIZE);
		if (is == was)
			continue;
		if (was != ZEROED)
			pages_clear(from, (size_t)(at - from), was == BY_PURGING, run.region->heap->sharing);
		from = at;
		was = is;
	}
	if (was != ZEROED)
		pages_clear(from, (size_t)(end - from), was == BY_PURGING, run.region->heap->sharing);
}

void run_used(struct run run, size_t n, size_t zero)
{
	struct heap *h = run.region->heap;
	size_t dirty = region_dirty(run, n);

	/* Free memory that shall read zero and does not must be noticed, not cleared. */
	if (zero != 0 && dirty > 0 && !heap_reads_zero(h))
		run_zero(run, zero);
	else
		region_tells(run, n, zero != 0);
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

/* SPDX-License-Identifier: MIT */
#include "backend/retain.h"

#include "backend/chunk.h"
#include "backend/region.h"
#include "backend/region_advice.h"
#include "pages.h"

/* The rest of a run, the caller's, to which pages are to be moved. */
struct borrower {
	struct run run;
	size_t end;
};

/* Finds the next chunk of the run that has no memory. */
static bool borrower_next(struct borrower *b)
{
	for (; b->run.first < b->end; b->run.first++)
		if (region_is_clean(b->run, 1))
			return true;
	return false;
}

/* Purges a chunk, the caller's, or moves its pages to the borrower. */
static bool chunk_trim(struct heap *h, struct run run, struct borrower *b)
{
	if (b == NULL) {
		if (!pages_purge(run_base(run), CHUNK_SIZE, h->sharing))
			return false;
		heap_cleaned(h, CHUNK_UNITS, 0);
		return true;
	}
	if (!pages_remap(run_base(run), run_base(b->run), CHUNK_SIZE)) {
		b->end = 0; /* the next chunk could not be moved either */
		return false;
	}
	region_moved(run, b->run, 1);
	bits_clear(b->run.region->clean, b->run.first, 1);
	return true;
}

/*
 * Purges what is free and dirty until at most `keep` units of it are left; moves pages of whole
 * chunks to a borrower instead.  From the newest region to the oldest, which is used first.
 * Returns the bytes.
 */
static size_t retained_trim(struct heap *h, uint64_t keep, struct borrower *b)
{
	struct run run = {region_first(h), 0};
	struct region *next;
	size_t bytes = 0;
	bool clean;

	while (run.region != NULL && (next = region_next(run.region)) != NULL)
		run.region = next;
	for (; run.region != NULL; run.region = run.region->previous) {
		/* In a region that is not live no chunk is free or has slabs. */
		for (run.first = load_relaxed(&run.region->chunks); run.first-- > 0;) {
			if (load_relaxed(&h->dirty) <= keep || (b != NULL && !borrower_next(b)))
				return bytes;
			if (b == NULL && chunk_is(run_chunk(run), CHUNK_SLABS)) {
				bytes += chunk_purge(h, run_chunk(run));
			} else if (!region_is_clean(run, 1) && region_claim_at(run, 1)) {
				/* Held: no other thread changes it; it may have been cleaned before. */
				clean = region_is_clean(run, 1);
				if (!clean && chunk_trim(h, run, b)) {
					bytes += CHUNK_SIZE;
					clean = true;
				}
				region_give(run, 1, clean);
			}
		}
	}
	return bytes;
}

size_t heap_trim(struct heap *h, size_t keep)
{
	return retained_trim(h, keep / UNIT_SIZE, NULL);
}

enum part { WHOLE, HALF, SIXTEENTH = 4 };

/*
 * So many units may be retained: that part of `retain` or, if that is more and not 0, a quarter of
 * those in use.
 */
static __attribute__((noinline)) uint64_t allowed(const struct heap *h, enum part part)
{
	uint64_t least = h->options->retain / UNIT_SIZE >> part;
	uint64_t used = SMALL || least == 0 ? 0 : load_relaxed(&h->used) / RETAIN_PART;

	return least > used ? least : used;
}

/* Purges until at most `units` units are retained; records what cannot be purged. */
static void retain_down(struct heap *h, uint64_t units)
{
	size_t bytes = retained_trim(h, units, NULL);
	uint64_t left;

	if (bytes == 0 && load_relaxed(&h->locked) != 0)
		(void)region_trim(h); /* locked memory cannot be purged, but unmapped */
	left = load_relaxed(&h->dirty);
	store_relaxed(&h->refused, bytes == 0 && left > units ? left - units : 0);
}

/*
 * All of these are hints: races correct themselves within one period.  If two threads start
 * the clock at the same time, owners are notified twice.
 */
__attribute__((noinline)) void retain_look(struct heap *h)
{
	uint64_t clock = load_relaxed(&h->clock), low, least;
	uint64_t kept = load_relaxed(&h->dirty), refused = load_relaxed(&h->refused);
	bool much = kept > allowed(h, WHOLE) + refused;
	bool turns = much != (load_relaxed(&h->running) != 0);

	if (unlikely(turns)) /* all threads read the word at each slow operation */
		store_relaxed(&h->running, 0);
	if (unlikely(turns || clock >= RETAIN_PERIOD)) { /* a period begins now */
		store_relaxed(&h->clock, 0);
		low = load_relaxed(&h->period_low);
		/* A period begins: nothing of what is retained is known to be in demand yet. */
		store_relaxed(&h->period_low, kept);
		store_relaxed(&h->period_start, kept);
		least = allowed(h, much ? HALF : SIXTEENTH);
		if (!turns && low <= kept && low > least + refused)
			retain_down(h, kept - low + least);
		if (much)
			store_relaxed(&h->running, CLOCK_UNNOTIFIED); /* for an owner that missed it, too */
	}
}

void retain_tick(struct heap *h, uint64_t n)
{
	/* No read-modify-write: threads that count at the same time may lose a count. */
	uint64_t before = load_relaxed(&h->clock), clock = before + n;

	store_relaxed(&h->clock, clock);
	if (unlikely((before ^ clock) >= RETAIN_LOOK))
		retain_look(h);
}

void retain_fresh(struct heap *h, uint64_t units)
{
	uint64_t kept = load_relaxed(&h->dirty), least = allowed(h, HALF);
	int64_t left = (int64_t)(kept - units);

	if (kept > least + load_relaxed(&h->refused))
		retain_down(h, left > (int64_t)least ? (uint64_t)left : least);
}

void retain_lend(struct run to, size_t n)
{
	struct heap *h = to.region->heap;
	struct borrower b = {to, to.first + n};

	if (!SMALL && h->sharing == PAGES_PRIVATE && load_relaxed(&h->reserved) <= LEND_MOST &&
	    load_relaxed(&h->locked) == 0)
		(void)retained_trim(h, CHUNK_UNITS - 1, &b);
}

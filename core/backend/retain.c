/* SPDX-License-Identifier: MIT */
#include "backend/retain.h"

#include "backend/chunk.h"
#include "backend/region.h"
#include "pages.h"

#define PURGE_STEP ((size_t)8 << 20)  /* bytes of due memory that one slow operation purges */
#define LOOK_COST  ((size_t)16 << 10) /* bytes that a look at a chunk counts of them         */

/* The rest of the caller's run, to which pages are to be moved. */
struct borrower {
	struct run run;
	size_t end;
	enum moved moved; /* result of the last move */
};

/* Finds the next chunk of the run that has no memory. */
static bool borrower_next(struct borrower *b)
{
	for (; b->run.first < b->end; b->run.first++)
		if (region_is_clean(b->run, 1))
			return true;
	return false;
}

/* Purges a free chunk, or moves its pages to the borrower.  Returns false if neither was possible. */
static bool chunk_trim(struct heap *h, struct run run, struct borrower *b)
{
	if (b == NULL) {
		if (!heap_purge(h, run_base(run), CHUNK_SIZE))
			return false;
		heap_cleaned(h, CHUNK_UNITS, 0);
		return true;
	}
	b->moved = pages_remap(run_base(run), run_base(b->run), CHUNK_SIZE);
	if (b->moved != PAGES_MOVED) {
		b->end = 0; /* the next chunk could not be moved either */
		return false;
	}
	region_moved(run, b->run, 1);
	bits_clear(b->run.region->clean, b->run.first, 1);
	return true;
}

/* Purges the chunk's free dirty memory, or moves the pages of a free chunk.  Returns the number of bytes. */
static size_t chunk_retained(struct run run, struct borrower *b)
{
	struct region *r = run.region;
	size_t bytes = 0;
	bool clean;

	/* A hint may be too high, also that of a chunk without units: then no unit is purged. */
	if (b == NULL && load_relaxed(&region_room(r)[run.first]) != 0)
		bytes = chunk_purge(r->heap, run_chunk(run));
	if (bytes != 0 || region_is_clean(run, 1) || (b != NULL && region_has_head(run)) ||
	    !region_claim_at(run, 1))
		return bytes;
	/* Held: no other thread changes the chunk now; it may have been cleaned before. */
	clean = region_is_clean(run, 1);
	if (!clean && chunk_trim(r->heap, run, b)) {
		bytes = CHUNK_SIZE;
		clean = true;
	}
	region_give(run, 1, clean);
	return bytes;
}

struct trimmed {
	size_t bytes;
	size_t at; /* number of chunks that were looked at; 0: nothing is left to do */
};

/*
 * Purges free dirty memory until only `keep` units of it are left, or moves the pages of whole chunks to a
 * borrower.  Goes from the newest region to the oldest, because allocation uses the oldest first.  Stops
 * after `work` bytes.  Skips the first `at` chunks, which were looked at before.
 */
static struct trimmed retained_trim(struct heap *h, uint64_t keep, struct borrower *b, size_t work,
				    size_t at)
{
	struct run run = {region_first(h), 0};
	struct region *next;
	struct trimmed t = {0, at};
	size_t done = 0, n;

	while (run.region != NULL && (next = region_next(run.region)) != NULL)
		run.region = next;
	for (; run.region != NULL; run.region = run.region->previous) {
		/* In a region that is not live no chunk is free or has slabs. */
		n = load_relaxed(&run.region->chunks);
		run.first = n > at ? n - at : 0;
		at -= n - run.first;
		for (; run.first > 0; t.at++) {
			if (load_relaxed(&h->dirty) <= keep || (b != NULL && !borrower_next(b)))
				goto all;
			if (done >= work)
				goto part;
			run.first--;
			n = chunk_retained(run, b);
			t.bytes += n;
			done += n + LOOK_COST;
		}
	}
all:
	t.at = 0;
part:
	if (t.bytes != 0)
		store_relaxed(&h->refused, 0);
	else if (load_relaxed(&h->locked) != 0)
		(void)region_trim(h, false); /* locked memory cannot be purged, but unmapped */
	return t;
}

size_t heap_trim(struct heap *h, size_t keep)
{
	return retained_trim(h, keep / UNIT_SIZE, NULL, SIZE_MAX, 0).bytes;
}

size_t retain_step(struct heap *h, size_t at)
{
	return retained_trim(h, 0, NULL, 1, at).bytes;
}

#define HUGE_PART 4 /* spans with huge pages retain this part of the quarter of the memory in use that may stay */

enum part { HALF = 1, QUARTER, EIGHTH, SIXTEENTH };

/* Returns a part of `retain`, in units. */
static uint64_t part_of_retain(const struct heap *h, enum part part)
{
	return h->options->retain / UNIT_SIZE >> part;
}

/*
 * Returns how many units may be retained when `used` are in use: that part of `retain` or, if that is more
 * and the part is not 0, a quarter of `used`.
 */
static __attribute__((noinline)) uint64_t allowed_beside(const struct heap *h, enum part part, uint64_t used)
{
	uint64_t least = part_of_retain(h, part);

	used = least == 0 ? 0 : used / RETAIN_PART;
	return least > used ? least : used;
}

static uint64_t allowed(const struct heap *h, enum part part)
{
	return allowed_beside(h, part, heap_live(h));
}

/*
 * Ends a period in which the retained units were between `low` and `high`.  The floor falls by a half, but
 * not below `high` if most of that was taken in between, and otherwise not below `high` - `low`.
 */
static void floor_falls(struct heap *h, uint64_t high, uint64_t low)
{
	uint64_t floor = load_relaxed(&h->floor), least = floor / 2;

	if (low > high / 2)
		high -= low;
	least = least > high ? least : high;
	floor = least < floor ? least : floor;
	store_relaxed(&h->floor, floor);
	if (load_relaxed(&h->swing) > floor)
		store_relaxed(&h->swing, floor);
	store_relaxed(&h->gone, load_relaxed(&h->gone) / 2);
}

/* All of these are hints: races correct themselves within one period. */
void retain_tick(struct heap *h, uint64_t n)
{
	/* No read-modify-write: threads that count at the same time may lose a count. */
	uint64_t clock = load_relaxed(&h->clock) + n;
	uint64_t kept = load_relaxed(&h->dirty), refused = load_relaxed(&h->refused);
	uint64_t least = allowed(h, QUARTER), most = least + load_relaxed(&h->floor), low, due;
	uint64_t high = kept;
	struct trimmed t;
	bool much = kept > least + part_of_retain(h, HALF) + refused;

	if (likely(load_relaxed(&h->due_at) == 0)) {
		if (unlikely(much != (load_relaxed(&h->running) != 0))) /* read by all threads */
			store_relaxed(&h->running, (uint64_t)much);
		if (likely(kept <= most + refused)) {
			high += load_relaxed(&h->idle.kept_before) / UNIT_SIZE; /* memory that other threads emptied
										   serves demand, too */
			if (high > load_relaxed(&h->period_high))
				store_relaxed(&h->period_high, high);
			store_relaxed(&h->clock, clock);
			if (likely(clock < RETAIN_PERIOD))
				return;
			/* A period begins: no retained memory is known to be in demand yet. */
			store_relaxed(&h->clock, 0);
			low = load_relaxed(&h->period_low);
			floor_falls(h, load_relaxed(&h->period_high), low);
			store_relaxed(&h->period_low, kept);
			store_relaxed(&h->period_start, kept);
			store_relaxed(&h->period_high, kept);
			due = allowed(h, load_relaxed(&h->floor) != 0 ? QUARTER : SIXTEENTH);
			if (low > kept || low <= due + refused)
				return;
			due += kept - low;
		} else {
			due = most - part_of_retain(h, EIGHTH);
		}
		store_relaxed(&h->due, due);
		store_relaxed(&h->refused, kept - due); /* unless some memory is purged */
	}
	t = retained_trim(h, load_relaxed(&h->due), NULL, PURGE_STEP, load_relaxed(&h->due_at));
	store_relaxed(&h->due_at, t.at);
	retain_gone(h, t.bytes / UNIT_SIZE, load_relaxed(&h->used));
}

void swing_begins(struct heap *h, uint64_t used)
{
	uint64_t low = load_relaxed(&h->low), swing = load_relaxed(&h->swing);
	bool falls = used < low - low / 4;

	if (!falls && load_relaxed(&h->gone) != 0)
		return;
	if (falls)
		store_relaxed(&h->swing, swing > low - used ? swing - (low - used) : 0);
	store_relaxed(&h->low, used);
}

uint64_t retain_room(const struct heap *h, uint64_t units, bool huge)
{
	uint64_t used = heap_live(h), kept = load_relaxed(&h->dirty), swing = load_relaxed(&h->swing);
	uint64_t most;

	used = used > units ? used - units : 0;
	most = allowed_beside(h, QUARTER, huge ? used / HUGE_PART : used);
	if (!huge)
		most += load_relaxed(&h->floor);
	else if (swing > used && swing - used > most)
		most = swing - used;
	most += load_relaxed(&h->refused);
	return kept < most ? most - kept : 0;
}

void retain_fresh(struct heap *h, uint64_t units)
{
	uint64_t kept = load_relaxed(&h->dirty), least = allowed(h, HALF), floor;
	int64_t left = (int64_t)(kept - units);

	if (kept <= least + load_relaxed(&h->refused))
		return;
	least = left > (int64_t)least ? (uint64_t)left : least;
	store_relaxed(&h->refused, kept - least); /* unless some memory is purged */
	units = retained_trim(h, least, NULL, SIZE_MAX, 0).bytes / UNIT_SIZE;
	/* Memory that did not serve this demand is not in demand. */
	floor = load_relaxed(&h->floor);
	store_relaxed(&h->floor, floor > units ? floor - units : 0);
}

bool retain_lend(struct run to, size_t n)
{
	struct heap *h = to.region->heap;
	struct borrower b = {to, to.first + n, PAGES_STAYED};

	if (heap_kind(h)->own_pages && load_relaxed(&h->reserved) <= LEND_MOST &&
	    load_relaxed(&h->locked) == 0)
		(void)retained_trim(h, CHUNK_UNITS - 1, &b, SIZE_MAX, 0);
	return b.moved != PAGES_LOST;
}

/* SPDX-License-Identifier: MIT */
#include "backend/chunk.h"

#include "backend/hold.h"
#include "backend/region.h"
#include "pages.h"

#define ALL_UNITS (~(uint64_t)0)

static struct run chunk_run(const struct chunk *c)
{
	struct run run = {c->region, c->index};

	return run;
}

__attribute__((noinline)) void chunk_hint(struct chunk *c, uint64_t word, unsigned room)
{
	/* The caller need not hold the chunk: region and index of a record never change. */
	struct region *r = load_relaxed(&c->region);
	uint32_t index = load_relaxed(&c->index);
	uint8_t *hint = region_room(r) + index;
	uint8_t *part = region_part(r, index);
	uint64_t seen;
	unsigned old;
	bool counted;

	/*
	 * All are seq_cst, as the changes of c->units before: of a thread that gives units and
	 * finds the hint large enough, and one that changes the hint and then looks at the
	 * units again, at least one sees the other.  The load of hint pairs with the store.
	 */
	for (;;) {
		counted = room == ROOM_LONGEST;
		if (counted)
			room = bits_longest(word);
		old = load_seq_cst(hint);
		if (room == old || (room < old && !counted)) {
			room = old;
			break;
		}
		store_seq_cst(hint, (uint8_t)room);
		seen = load_seq_cst(&c->units);
		if (seen == word)
			break;
		word = seen;
		room = ROOM_LONGEST;
	}
	/* Another thread may have set the hint and not yet this, so in each case. */
	if (load_relaxed(part) < room)
		store_relaxed(part, (uint8_t)room);
}

void chunk_open(struct heap *h, struct run run, bool clean)
{
	struct chunk *c = run_chunk(run);

	fetch_add_relaxed(&h->slab_chunks, 1);
	region_know(run, 1);
	/* Relaxed: read concurrently by map_find, and by threads with a stale hint. */
	store_relaxed(&c->base, run_base(run));
	store_relaxed(&c->region, run.region);
	store_relaxed(&c->index, (uint32_t)run.first);
	store_relaxed(&c->span_chunks, 0);
	signal_fence();
	store_relaxed(&c->clean, clean ? ALL_UNITS : 0);
	store_release(&c->kind, CHUNK_SLABS);
	(void)exchange_seq_cst(&c->units, ALL_UNITS);
	hold_run(run, 1, false);
	chunk_hint(c, ALL_UNITS, CHUNK_UNITS);
}

/* Returns the chunk to its region if all its units are free. */
static bool chunk_return(struct heap *h, struct chunk *c)
{
	uint64_t all = ALL_UNITS, clean;

	hold_run(chunk_run(c), 1, true);
	/* The winner of this compare-and-swap holds the chunk: no unit can be claimed. */
	if (!cas_acq_rel(&c->units, &all, 0)) {
		hold_run(chunk_run(c), 1, false);
		return false;
	}
	clean = load_relaxed(&c->clean);
	if (clean != ALL_UNITS) /* such a chunk counts as dirty as a whole */
		heap_soiled(h, bits_count(clean));
	chunk_hint(c, 0, ROOM_LONGEST);
	fetch_add_relaxed(&h->slab_chunks, ~(uint64_t)0);
	store_release(&c->kind, CHUNK_FREE);
	region_give(chunk_run(c), 1, clean == ALL_UNITS);
	return true;
}

void chunk_settle(struct heap *h, struct chunk *c, uint64_t word, unsigned room)
{
	/* A thread that has just made this chunk and finds no unit in it makes another. */
	if (word != 0 && (word != ALL_UNITS || !chunk_return(h, c)))
		chunk_hint(c, word, room);
}

/*
 * The length of the run that the thread made which set these bits of the word: the hint is large enough for
 * other runs, as who set the last bit of each has seen to it.
 */
static inline unsigned run_around(uint64_t word, uint64_t mask)
{
	uint64_t below = (mask & -mask) - 1, before = ~word & below, behind = ~word & ~below;

	if ((mask & (mask + below + 1)) != 0) /* of several runs */
		return ROOM_LONGEST;
	/* From behind the last taken unit before to the first one behind; 0 and 63 where there is none. */
	return bits_highest((unsigned long)((behind & -behind) - 1)) + 1 - bits_highest((unsigned long)(before << 1 | 1));
}

void chunk_put(struct heap *h, struct chunk *c, uint64_t mask)
{
	/* Pairs with the acquire of claim_in (units.c). */
	uint64_t word = fetch_or_seq_cst(&c->units, mask) | mask;

	chunk_settle(h, c, word, run_around(word, mask));
}

/*
 * Of these units those that whole pages consist of, together with others that are free: all
 * of them, unless two units are a page.
 */
static uint64_t whole_pages(uint64_t units, uint64_t free)
{
	uint64_t low;

	if (PAGE_MOST <= UNIT_SIZE || PAGE_SIZE <= UNIT_SIZE)
		return units;
	low = (units | units >> 1) & free & free >> 1 & UINT64_C(0x5555555555555555);
	return low | low << 1;
}

size_t chunk_purge(struct heap *h, struct chunk *c)
{
	uint64_t word = load_acquire(&c->units), held, left, rest, purged = 0;
	unsigned first, n;

	hold_some(c, 0, CHUNK_UNITS, true);
	/* Hold the dirty units while they are purged, so that none is handed out. */
	do {
		held = whole_pages(word & ~load_relaxed(&c->clean), word);
		if (held == 0) {
			hold_some(c, 0, CHUNK_UNITS, false);
			return 0;
		}
	} while (!cas_acquire(&c->units, &word, word & ~held));
	/* A concurrent purge may have cleaned some of them. */
	for (left = whole_pages(held & ~load_relaxed(&c->clean), held); left != 0; left = rest) {
		first = bits_lowest(left);
		rest = left & (left + ((uint64_t)1 << first)); /* the carry clears the lowest run */
		if (heap_purge(h, c->base + ((size_t)first << UNIT_SHIFT),
			       (size_t)bits_count(left ^ rest) << UNIT_SHIFT))
			purged |= left ^ rest;
	}
	n = bits_count(PAGE_MOST <= UNIT_SIZE ? purged : purged & ~load_relaxed(&c->clean));
	fetch_or_acq_rel(&c->clean, purged);
	heap_cleaned(h, n, 0);
	chunk_put(h, c, held);
	hold_some(c, 0, CHUNK_UNITS, false);
	return (size_t)n << UNIT_SHIFT;
}

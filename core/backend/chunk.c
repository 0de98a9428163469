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
	 * All accesses are seq_cst, like the changes of c->units before.  One thread gives units and finds
	 * the hint large enough; another changes the hint and then looks at the units again: at least one of
	 * them sees the other's change.  The load of the hint pairs with the store.
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
	/* Not only after a store to the hint: another thread may have set the hint and not yet this. */
	if (load_relaxed(part) < room)
		store_relaxed(part, (uint8_t)room);
}

void chunk_open(struct heap *h, struct run run, bool clean)
{
	struct chunk *c = run_chunk(run);

	fetch_add_relaxed(&h->slab_chunks, 1);
	region_know(run, 1);
	/* Relaxed: map_find, and threads with a stale hint, read these concurrently. */
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
	/* If a thread that has just made this chunk finds no unit in it, the thread makes another chunk. */
	if (word != 0 && (word != ALL_UNITS || !chunk_return(h, c)))
		chunk_hint(c, word, room);
}

/*
 * Returns the length of the run that the thread made which set the bits of `mask` in `word`.  The hint is
 * large enough for other runs, because the thread that set the last bit of each run has raised it.
 */
static inline unsigned run_around(uint64_t word, uint64_t mask)
{
	uint64_t below = (mask & -mask) - 1, before = ~word & below, behind = ~word & ~below;

	if ((mask & (mask + below + 1)) != 0) /* the bits belong to several runs */
		return ROOM_LONGEST;
	/* Distance between the taken units before and behind the run, or the ends of the word. */
	return bits_highest((unsigned long)((behind & -behind) - 1)) + 1 - bits_highest((unsigned long)(before << 1 | 1));
}

void chunk_put(struct heap *h, struct chunk *c, uint64_t mask)
{
	/* Pairs with the acquire of claim_in (units.c). */
	uint64_t word = fetch_or_seq_cst(&c->units, mask) | mask;

	chunk_settle(h, c, word, run_around(word, mask));
}

/*
 * Returns those of the units that form whole pages together with other free units: all of them, unless a page
 * is two units.
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
	/* Hold the dirty units while they are purged, so that no thread gets them. */
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
	fetch_or_acq_rel(&c->clean, purged); /* pairs with units_taken: before the units can be claimed */
	heap_cleaned(h, n, 0);
	chunk_put(h, c, held);
	hold_some(c, 0, CHUNK_UNITS, false);
	return (size_t)n << UNIT_SHIFT;
}

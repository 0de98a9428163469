/* SPDX-License-Identifier: MIT */
#include "arena/arena.h"

#include "front/block.h"
#include "front/slot.h"
#include "thread/owner.h"

/*
 * An entry is in use once a compare-and-swap has changed `begin` from 0.  The entry reserves the memory once
 * `begin` is an address, and can be found once `base` is set.
 *
 * The entry is authoritative, not the record in the memory: the memory may belong to another block now, if
 * its owner released it without a destroy.
 */
static struct arena_entry {
	uint64_t begin, end;
	uint64_t base; /* of the granules; 0: not yet known */
} entries[ASH_HEAPS_IN_MAX];
INTERNAL uint64_t arenas_used;

enum { RESERVING = 1 };

/* Only the note refers to it, like to ash_descriptor in thread/owner.c. */
__attribute__((used)) INTERNAL const struct ash_arenas arenas_descriptor = {
	.name = ASH_ARENAS_NAME,
	.version = ASH_DESCRIPTOR_VERSION,
	.fields = ASH_ARENAS_COUNT,
	.list = entries,
	.field = {ASH_ARENAS_FIELDS(DESCRIPTOR_NUMBER, DESCRIPTOR_MEMBER, DESCRIPTOR_ARRAY)},
};
DESCRIPTOR_NOTE(ASH_NOTE_ARENAS, arenas_descriptor);

/*
 * Copies the values that the entry had at one moment.  Returns false if the entry is unused, or changed at
 * the same time.
 */
static bool entry_read(uint64_t i, struct arena_entry *out)
{
	/*
	 * Pairs with entry_reserve; seq_cst for overlaps, acquire for all others.  `begin` is read again,
	 * because the entry may be reused.
	 */
	out->begin = load_seq_cst(&entries[i].begin);
	out->end = load_acquire(&entries[i].end);
	out->base = load_acquire(&entries[i].base);
	return out->begin > RESERVING && load_acquire(&entries[i].begin) == out->begin;
}

/* Returns true if the record in the memory is still that of this arena. */
static bool entry_is_valid(const struct arena_entry *at)
{
	const struct arena *a = arena_in(at->begin);
	size_t granules = (at->end - at->base) / GRANULE;

	return a->memory == at->begin && a->sharing == PAGES_CALLERS &&
	       (uintptr_t)a->base == at->base && a->granules == granules &&
	       a->word_count == arena_words(granules);
}

/*
 * Returns the smallest arena whose memory (if `granule`, whose granules) contains p: an arena may lie in a
 * block of another arena.
 */
static struct arena *entry_find(const void *p, bool granule)
{
	uint64_t address = (uintptr_t)p, best = UINT64_MAX, i;
	uint64_t used = load_acquire(&arenas_used); /* pairs with entry_reserve */
	struct arena *a = NULL;
	struct arena_entry at;

	for (i = 0; i < used; i++)
		if (entry_read(i, &at) && at.base != 0 && address - at.begin < at.end - at.begin &&
		    at.end - at.begin < best && (!granule || address >= at.base) &&
		    entry_is_valid(&at) && (!granule || arena_has(arena_in(at.begin), p))) {
			best = at.end - at.begin;
			a = arena_in(at.begin);
		}
	return a;
}

struct arena *arenas_find(const void *p)
{
	return entry_find(p, true);
}

struct arena *arenas_around(const void *p)
{
	return entry_find(p, false);
}

/* Removes the arena from the list.  Returns false if it was not there any more. */
static bool entry_remove(uint64_t i, uint64_t begin)
{
	return cas_acq_rel(&entries[i].begin, &begin, 0);
}

/* Removes all arenas in the memory [begin, end) but the entry `but`. */
static bool entries_remove(uint64_t begin, uint64_t end, uint64_t but)
{
	uint64_t used = load_acquire(&arenas_used), i;
	struct arena_entry at;
	bool any = false;

	for (i = 0; i < used; i++)
		if (i != but && entry_read(i, &at) && at.begin >= begin && at.end <= end)
			any |= entry_remove(i, at.begin);
	return any;
}

void arenas_gone(const void *from, size_t bytes)
{
	uint64_t begin = (uintptr_t)from;

	if (bytes >= ARENA_MIN)
		(void)entries_remove(begin, begin + bytes, ASH_HEAPS_IN_MAX);
}

void arenas_gone_with(const struct chunk *c, const void *p)
{
	if (load_relaxed(&arenas_used) != 0)
		arenas_gone(p, chunk_block(c, p));
}

/* Returns true if the memory [begin, end) lies in one block of the arena. */
static bool is_in_block(const struct arena_entry *at, uint64_t begin, uint64_t end)
{
	struct arena *a = arena_in(at->begin);
	const char *p = (const char *)(uintptr_t)begin;
	size_t first;

	if (!entry_is_valid(at) || !arena_has(a, p))
		return false;
	first = arena_begin(a, arena_index(a, p));
	p = a->base + first * GRANULE;
	return end - (uintptr_t)p <= arena_bytes(a, p);
}

/* Returns true if the memory overlaps that of another arena which does not contain it in one block. */
static bool overlaps(uint64_t begin, uint64_t end, uint64_t mine)
{
	/* seq_cst, like the loads of `begin` after it: see entry_reserve. */
	uint64_t used = load_seq_cst(&arenas_used), i;
	struct arena_entry at;

	for (i = 0; i < used; i++) {
		if (i == mine || !entry_read(i, &at) || at.begin >= end || begin >= at.end)
			continue;
		/*
		 * The old arena was unmapped without a destroy and its addresses were mapped again: its entry
		 * is stale.
		 */
		if (at.base != 0 && at.begin >= begin && at.end <= end && !entry_is_valid(&at))
			(void)entry_remove(i, at.begin);
		else if (at.base == 0 || !is_in_block(&at, begin, end))
			return true;
	}
	return false;
}

/* Returns an entry that reserves this memory, or ASH_HEAPS_IN_MAX if all are in use. */
static uint64_t entry_reserve(uint64_t begin, uint64_t end)
{
	uint64_t i, used = load_acquire(&arenas_used);

	for (i = 0; i < ASH_HEAPS_IN_MAX; i++) {
		uint64_t none = 0;

		if (load_relaxed(&entries[i].begin) == 0 &&
		    cas_acq_rel(&entries[i].begin, &none, RESERVING))
			break;
	}
	if (i == ASH_HEAPS_IN_MAX)
		return i;
	store_release(&entries[i].base, 0);
	store_release(&entries[i].end, end);
	/* seq_cst: of two threads that reserve overlapping memory at least one sees the other (overlaps). */
	(void)exchange_seq_cst(&entries[i].begin, begin);
	while (used <= i && !cas_seq_cst(&arenas_used, &used, i + 1))
		;
	return i;
}

bool arenas_leave(const void *a)
{
	uint64_t used = load_acquire(&arenas_used), i;
	struct arena_entry at;

	for (i = 0; i < used; i++)
		if (entry_read(i, &at) && at.base != 0 && arena_in(at.begin) == a &&
		    entry_remove(i, at.begin)) {
			(void)entries_remove(at.begin, at.end, i);
			return true;
		}
	return false;
}

/* Removes an arena that this memory had before and that was not destroyed, and all arenas in it. */
static void entries_remove_at(uint64_t begin)
{
	uint64_t used = load_acquire(&arenas_used), i;
	struct arena_entry at;

	for (i = 0; i < used; i++)
		if (entry_read(i, &at) && at.begin == begin && at.base != 0)
			(void)entries_remove(at.begin, at.end, ASH_HEAPS_IN_MAX);
}

uint64_t arenas_reserve(uint64_t begin, uint64_t end)
{
	uint64_t i;

	entries_remove_at(begin);
	i = entry_reserve(begin, end);
	if (i != ASH_HEAPS_IN_MAX && overlaps(begin, end, i)) {
		(void)entry_remove(i, begin);
		i = ASH_HEAPS_IN_MAX;
	}
	return i;
}

void arenas_publish(uint64_t i, const struct arena *a)
{
	store_release(&entries[i].base, (uint64_t)(uintptr_t)a->base); /* pairs with entry_read */
}

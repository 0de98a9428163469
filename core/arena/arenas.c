/* SPDX-License-Identifier: MIT */
/*
 * The arenas of this process.  They are listed here and not in their own
 * memory: that may be shared with processes that have other lists.
 */
#include "arena/arena.h"
#include "heaps/instance.h"
#include "backend/map.h"
#include "memory.h"
#include "front/release.h"
#include "shm/seats.h"
#include "thread/seat.h"
#include "thread/spare.h"

/*
 * A place is somebody's from the swap of `begin` from 0 on.  It keeps that memory
 * for itself once `begin` is an address, and can be found once `base` is set.
 *
 * What is here is believed, and not what stands in the memory: that may be
 * another block's by now, if its owner released it without telling us.
 */
static struct place_of {
	uint64_t begin, end;
	uint64_t base; /* of the granules; 0: not yet */
} places[ASH_HEAPS_IN_MAX];
static uint64_t places_used; /* none at or above this one was ever taken */

enum { NOT_YET = 1 };

static struct arena *arena_in(uint64_t memory)
{
	return (struct arena *)(uintptr_t)((memory + CPU_LINE - 1) & ~(uint64_t)(CPU_LINE - 1));
}

static size_t words_for(size_t granules)
{
	return (granules + ARENA_WORD - 1) / ARENA_WORD;
}

/* A copy of a place as it was at one moment.  False: nobody's, or it changed meanwhile. */
static bool place_read(uint64_t i, struct place_of *out)
{
	/* Pairs with enter; read again, as the place may come to be another's. */
	out->begin = load_acquire(&places[i].begin);
	out->end = load_acquire(&places[i].end);
	out->base = load_acquire(&places[i].base);
	return out->begin > NOT_YET && load_acquire(&places[i].begin) == out->begin;
}

/* The arena still stands in its memory. */
static bool is_there(const struct place_of *at)
{
	const struct arena *f = arena_in(at->begin);
	size_t granules = (at->end - at->base) / GRANULE;

	return f->memory == at->begin && f->sharing == PAGES_CALLERS &&
	       (uintptr_t)f->base == at->base && f->granules == granules &&
	       f->word_count == words_for(granules);
}

/*
 * The smallest arena whose memory has p, as a granule if that is wanted: one
 * may lie in a block of another.
 */
static struct arena *find(const void *p, bool granule)
{
	uint64_t address = (uintptr_t)p, best = UINT64_MAX, i;
	uint64_t used = load_acquire(&places_used); /* pairs with enter */
	struct arena *f = NULL;
	struct place_of at;

	for (i = 0; i < used; i++)
		if (place_read(i, &at) && at.base != 0 && address - at.begin < at.end - at.begin &&
		    at.end - at.begin < best && (!granule || address >= at.base) &&
		    is_there(&at) && (!granule || arena_has(arena_in(at.begin), p))) {
			best = at.end - at.begin;
			f = arena_in(at.begin);
		}
	return f;
}

struct arena *arenas_find(const void *p)
{
	return find(p, true);
}

struct arena *arenas_around(const void *p)
{
	return find(p, false);
}

/* Nobody finds it any more.  False: it was gone. */
static bool leave(uint64_t i, uint64_t begin)
{
	return cas_acq_rel(&places[i].begin, &begin, 0);
}

/* The arenas whose memory lies in this one. */
static bool forget(uint64_t begin, uint64_t end, uint64_t but)
{
	uint64_t used = load_acquire(&places_used), i;
	struct place_of at;
	bool any = false;

	for (i = 0; i < used; i++)
		if (i != but && place_read(i, &at) && at.begin >= begin && at.end <= end)
			any |= leave(i, at.begin);
	return any;
}

void arenas_gone(const void *from, size_t bytes)
{
	uint64_t begin = (uintptr_t)from;

	if (bytes >= ARENA_MIN)
		(void)forget(begin, begin + bytes, ASH_HEAPS_IN_MAX);
}

void arenas_gone_with(const struct chunk *c, const void *p)
{
	if (load_relaxed(&places_used) != 0)
		arenas_gone(p, chunk_block(c, p));
}

/* True: all of it lies in one block of the arena. */
static bool is_in_block(const struct place_of *at, uint64_t begin, uint64_t end)
{
	struct arena *f = arena_in(at->begin);
	const char *p = (const char *)(uintptr_t)begin;
	size_t first;

	if (!is_there(at) || !arena_has(f, p))
		return false;
	first = arena_begin(f, arena_index(f, p));
	p = f->base + first * GRANULE;
	return end - (uintptr_t)p <= arena_bytes(f, p);
}

/* The memory of another arena, but for one that has it in a block. */
static bool overlaps(uint64_t begin, uint64_t end, uint64_t mine)
{
	uint64_t used = load_acquire(&places_used), i;
	struct place_of at;

	for (i = 0; i < used; i++) {
		if (i == mine || !place_read(i, &at) || at.begin >= end || begin >= at.end)
			continue;
		/* Unmapped without a word, and mapped anew: what is left lies in the caller's memory. */
		if (at.base != 0 && at.begin >= begin && at.end <= end && !is_there(&at))
			(void)leave(i, at.begin);
		else if (at.base == 0 || !is_in_block(&at, begin, end))
			return true;
	}
	return false;
}

/* A place that keeps this memory; ASH_HEAPS_IN_MAX: there is none. */
static uint64_t enter(uint64_t begin, uint64_t end)
{
	uint64_t i, used = load_acquire(&places_used);

	for (i = 0; i < ASH_HEAPS_IN_MAX; i++) {
		uint64_t none = 0;

		if (load_relaxed(&places[i].begin) == 0 &&
		    cas_acq_rel(&places[i].begin, &none, NOT_YET))
			break;
	}
	if (i == ASH_HEAPS_IN_MAX)
		return i;
	store_release(&places[i].base, 0);
	store_release(&places[i].end, end);
	/* Ordered: of two that want the same memory one sees the other (overlaps). */
	(void)exchange_seq_cst(&places[i].begin, begin);
	while (used <= i && !cas_seq_cst(&places_used, &used, i + 1))
		;
	return i;
}

bool arenas_leave(const void *f)
{
	uint64_t used = load_acquire(&places_used), i;
	struct place_of at;

	for (i = 0; i < used; i++)
		if (place_read(i, &at) && at.base != 0 && arena_in(at.begin) == f &&
		    leave(i, at.begin)) {
			(void)forget(at.begin, at.end, i);
			return true;
		}
	return false;
}

/*
 * If the memory lies in a block of the calling thread's slab, its release must
 * come by where arenas are looked for: a slab that is watched does (slab_watch), and
 * one that was a spare is not.
 */
static void watch(const void *memory)
{
	struct chunk *c = map_find(memory);
	struct heap *h = c == NULL ? NULL : c->region->heap;
	struct seat_entry *t = NULL;
	struct owner *o;
	struct slab *s;

	if (c == NULL || !slab_find(c, memory, &s) || s->slot_size < ARENA_MIN)
		return;
	if (h != &heap_default)
		o = seats_guess(h, &t);
	else if ((o = seat.open == 0 ? NULL : seat.self) != NULL)
		seat.open = 0;
	if (o == NULL)
		return;
	signal_fence(); /* see seat_take */
	if (owner_has(o, s)) {
		if (s->spare)
			spares_forget(o, s);
		(void)slab_watch(s);
	}
	if (t != NULL)
		seats_give(t, o);
	else
		seat_give();
}

/* The arena that such memory has room for. */
static void set_up(struct arena *f, uint64_t begin, uint64_t end)
{
	uint64_t base;
	size_t beyond, room = end - (uintptr_t)f - sizeof *f;

	memset(f, 0, sizeof *f);
	/* A word and its granules take 8 + 512 bytes. */
	f->word_count = (room + 8 + ARENA_WORD * GRANULE - 1) / (8 + ARENA_WORD * GRANULE);
	base = ((uintptr_t)&f->words[f->word_count] + GRANULE - 1) & ~(uint64_t)(GRANULE - 1);
	f->base = (char *)(uintptr_t)base;
	f->granules = (end - base) / GRANULE;
	f->memory = begin;
	f->sharing = PAGES_CALLERS;
	memset(f->words, 0, f->word_count * sizeof f->words[0]);
	/* What rounding left over may have been the last word's. */
	f->word_count = words_for(f->granules);
	beyond = f->word_count * ARENA_WORD - f->granules;
	if (beyond > 0)
		f->words[f->word_count - 1] =
			bits_run(2 * ARENA_WORD - (unsigned)beyond, (unsigned)beyond);
}

/* The same memory made anew, without a destroy before: what was there is gone, and all in it. */
static void forget_at(uint64_t begin)
{
	uint64_t used = load_acquire(&places_used), i;
	struct place_of at;

	for (i = 0; i < used; i++)
		if (place_read(i, &at) && at.begin == begin && at.base != 0)
			(void)forget(at.begin, at.end, ASH_HEAPS_IN_MAX);
}

ash_heap *ash_heap_create_in(void *memory, size_t bytes)
{
	uint64_t begin = (uintptr_t)memory, end = begin + bytes, i;
	struct arena *f = arena_in(begin);

	if (memory == NULL || bytes < ARENA_MIN || bytes > PTRDIFF_MAX || end < begin)
		return NULL;
	forget_at(begin);
	i = enter(begin, end);
	if (i == ASH_HEAPS_IN_MAX)
		return NULL;
	if (overlaps(begin, end, i)) {
		(void)leave(i, begin);
		return NULL;
	}
	watch(memory);
	set_up(f, begin, end);
	store_release(&places[i].base, (uint64_t)(uintptr_t)f->base); /* pairs with place_read */
	heap_hooks = &instance_hooks;
	return (ash_heap *)(void *)f;
}

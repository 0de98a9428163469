/* SPDX-License-Identifier: MIT */
#include "small/pool.h"

#include "arena/arena_call.h"
#include "memory.h"
#include "small/space.h"

enum { LANES = 8 };
static struct pool *pools[POOL_LEVELS], *currents[POOL_LEVELS][LANES];

/* The stacks of threads are 128 KiB or more apart. */
static inline size_t lane_of_caller(void)
{
	return (size_t)(((uintptr_t)__builtin_frame_address(0) >> 17) * UINT64_C(0x9e3779b97f4a7c15) >> 61);
}

struct pool *pool_first(unsigned level)
{
	return load_dependent(&pools[level]); /* pairs with pool_make */
}

bool pool_is_current(const struct pool *q)
{
	return load_relaxed(&currents[q->level][load_relaxed(&q->lane)]) == q;
}

/* ---- pools come and go ---- */

/*
 * Makes a record without memory, for the caller alone; its granules are free.  Returns NULL if there is no
 * memory.
 */
static struct pool *pool_make(unsigned level)
{
	size_t words = POOL_BYTES / pool_granule(level) / ARENA_WORD;
	size_t bytes = sizeof(struct pool) + (words + summary_groups(words)) * sizeof(uintptr_t);
	struct pool *q = pages_reserve((bytes + PAGE_MOST - 1) & ~(PAGE_MOST - 1), PAGE_LEAST, PAGES_RECORDS);
	uintptr_t *end = (uintptr_t *)(void *)&pools[level], last = 0;

	if (q == NULL)
		return NULL;
	q->memory = POOL_CHANGING;
	q->level = level;
	q->arena.base = (char *)POOL_BASE; /* NOLINT: an address */
	q->arena.granules = words * ARENA_WORD;
	q->arena.word_count = words;
	q->arena.leaves = summary_leaves(words);
	summary_released(&q->arena, 0, 0);
	/* The record becomes the last of the list.  Pairs with pool_first and pool_next. */
	for (; !cas_acq_rel(end, &last, (uintptr_t)q); last = 0)
		end = (uintptr_t *)(void *)&((struct pool *)last)->next; /* NOLINT: the word is an address */
	return q;
}

/* Returns a record whose memory went back, all of whose granules are taken, or makes one. */
static struct pool *pool_record(unsigned level)
{
	struct pool *q;
	uintptr_t none;

	for (q = pool_first(level); q != NULL; q = pool_next(q)) {
		none = POOL_NONE;
		/* Pairs with the release stores of pool_return and pool_new. */
		if (load_relaxed(&q->memory) == POOL_NONE && cas_acq_rel(&q->memory, &none, POOL_CHANGING))
			return q;
	}
	return pool_make(level);
}

/* Makes a pool that was free as a whole.  Returns NULL if there is no memory. */
static struct pool *pool_new(unsigned level)
{
	struct pool *q = pool_record(level);
	uint64_t *place;
	bool taken;
	char *p;

	if (q == NULL)
		return NULL;
	p = space_map(POOL_BYTES, POOL_BYTES, false);
	place = p == NULL ? NULL : place_make(p);
	if (place == NULL) {
		if (p != NULL)
			(void)space_unmap(p, POOL_BYTES, true);
		store_release(&q->memory, POOL_NONE); /* pairs with pool_record */
		return NULL;
	}
	(void)pages_huge(p, POOL_BYTES, false); /* otherwise one block could cost 2 MiB */
	taken = load_relaxed(&q->arena.words[0]) != 0;
	store_relaxed(&q->high, 0);
	store_release(place, (uintptr_t)q);	 /* pairs with place_at */
	store_release(&q->memory, (uintptr_t)p); /* pairs with pool_has_memory */
	if (taken)
		run_give(&q->arena, 0, q->arena.granules);
	return q;
}

/* Returns true if no granule below `end` is taken. */
static bool pool_is_empty(struct pool *q, size_t end)
{
	size_t words = (end + ARENA_WORD - 1) / ARENA_WORD, seen = load_relaxed(&q->seen), i, w;

	for (i = 0, w = seen; i < words; i++, w++) {
		if (w >= words)
			w = 0;
		if (load_relaxed(&q->arena.words[w]) != 0) {
			if (w != seen)
				store_relaxed(&q->seen, w);
			return false;
		}
	}
	return true;
}

bool pool_return(struct pool *q)
{
	uintptr_t memory;
	uint64_t *place;
	char *p;

	if (!pool_has_memory(q) || !pool_is_empty(q, q->arena.granules) || !arena_take(&q->arena, 0, q->arena.granules))
		return false;
	/*
	 * The load may be relaxed: after the pool first got memory, its granules are free only while it has
	 * memory.
	 */
	memory = load_relaxed(&q->memory);
	p = (char *)memory; /* NOLINT: the word is an address */
	place = place_of(p);
	store_relaxed(&q->memory, POOL_CHANGING);
	store_release(place, PLACE_GONE); /* before other threads may get the addresses; pairs with place_at */
	if (space_unmap(p, POOL_BYTES, true)) {
		store_release(&q->memory, POOL_NONE); /* pairs with pool_record */
		return true;
	}
	if (pages_purge(p, POOL_BYTES, PAGES_PRIVATE))
		store_relaxed(&q->high, 0);
	store_release(place, (uintptr_t)q); /* pairs with place_at */
	store_release(&q->memory, memory);  /* pairs with pool_has_memory */
	run_give(&q->arena, 0, q->arena.granules);
	return false;
}

bool pool_return_all(void)
{
	bool any = false;
	struct pool *q;
	unsigned level;

	for (level = 0; level < POOL_LEVELS; level++)
		for (q = pool_first(level); q != NULL; q = pool_next(q))
			any |= pool_return(q);
	return any;
}

size_t pool_purge(struct pool *q, size_t first, size_t n, pool_count *count)
{
	size_t granule = pool_granule(q->level), page = PAGE_SIZE, begin, end, written = 1;
	uintptr_t high = load_relaxed(&q->high);
	char *p;

	begin = (first * granule + page - 1) & ~(page - 1);
	end = (first + n) * granule;
	if (first + n >= high) { /* also the rest of the page of the highest block */
		end = (end + page - 1) & ~(page - 1);
		n = end / granule - first;
	}
	end &= ~(page - 1);
	if (begin >= end || !arena_take(&q->arena, first, n))
		return 0;
	p = pool_outside(q, 0) + begin;
	if (count != NULL)
		written = count(p, end - begin, PAGES_PRIVATE);
	/*
	 * Do not lower `high` below a block that another thread took at the same time: that thread raised the
	 * word, or will raise it.  Pairs with pool_raise.
	 */
	if (written != 0 && pages_purge(p, end - begin, PAGES_PRIVATE) && end / granule >= high)
		(void)cas_acq_rel(&q->high, &high, begin / granule);
	(void)arena_release(&q->arena, (char *)POOL_BASE + first * GRANULE); /* NOLINT: an address */
	return written;
}

/* ---- blocks ---- */

/*
 * Notes that granules up to `end` are in a block of the caller.  Returns the former value of the word.  The
 * next thread that gets these granules sees the change by the release of this block.
 */
static size_t pool_raise(struct pool *q, size_t end)
{
	uintptr_t high = load_relaxed(&q->high);

	while (high < end && !cas_acq_rel(&q->high, &high, end)) /* pairs with pool_purge */
		;
	return high;
}

static inline void pool_remember(struct pool *q, size_t first, size_t n)
{
	if (n < ARENA_WORD)
		store_relaxed(&q->near[n], (uint16_t)(first / ARENA_WORD));
}

/* Returns NULL if the pool has no room. */
static void *pool_take(struct pool *q, size_t size, size_t alignment, bool zero)
{
	size_t granule = pool_granule(q->level), n = granules_for(pool_size_inside(q, size)), first = BITS_NONE, dirty;
	char *inside, *p;

	if (!pool_has_memory(q))
		return NULL;
	/* The place of the last such block mostly has room, and its cache line is known. */
	if (alignment <= granule && n < ARENA_WORD)
		first = arena_take_near(&q->arena, load_relaxed(&q->near[n]), n);
	if (first == BITS_NONE) {
		inside = arena_alloc(&q->arena, n * GRANULE, alignment >> pool_shift(q->level));
		if (inside == NULL)
			return NULL;
		first = arena_index(&q->arena, inside);
		pool_remember(q, first, n);
	}
	p = pool_outside(q, first);
	dirty = pool_raise(q, first + n);
	if (zero && dirty > first) {
		dirty = (dirty - first) * granule;
		memset(p, 0, dirty < size ? dirty : size);
	}
	return p;
}

void *pool_alloc(unsigned level, size_t size, size_t alignment, bool zero)
{
	enum { OTHERS, NEW, ANY, PASSES } pass;
	size_t lane = lane_of_caller();
	struct pool **current = &currents[level][lane], *q = load_dependent(current); /* pairs with its change below */
	void *p = q == NULL ? NULL : pool_take(q, size, alignment, zero);

	for (pass = OTHERS; p == NULL && pass < PASSES; pass++)
		for (q = pass == NEW ? pool_new(level) : pool_first(level); q != NULL; q = pass == NEW ? NULL : pool_next(q)) {
			if (pass == OTHERS && pool_is_current(q))
				continue;
			p = pool_take(q, size, alignment, zero);
			if (p == NULL)
				continue;
			store_relaxed(&q->lane, lane);
			store_release(current, q); /* pairs with its load above */
			break;
		}
	return p;
}

size_t pool_bytes(const struct pool *q, const void *p)
{
	return pool_is_start(q, p) ? arena_bytes(&q->arena, pool_inside(q, p)) << pool_shift(q->level) : 0;
}

bool pool_fit(struct pool *q, void *p, size_t size)
{
	size_t bytes = pool_size_inside(q, size);
	char *inside = pool_inside(q, p);

	if (size > POOL_BYTES || !arena_fit(&q->arena, inside, bytes))
		return false;
	(void)pool_raise(q, arena_index(&q->arena, inside) + granules_for(bytes));
	return true;
}

bool pool_release(struct pool *q, void *p)
{
	size_t granule = pool_granule(q->level), first, n, high, keep;
	char *inside = pool_inside(q, p);

	if (!pool_is_start(q, p) || (n = arena_release(&q->arena, inside)) == 0)
		return false;
	/* These are hints: pool_purge and pool_return take the granules that they give back. */
	keep = pool_is_current(q) ? POOL_KEEP / granule : 0;
	first = arena_index(&q->arena, inside);
	pool_remember(q, first, n);
	if (n * granule >= POOL_PURGE && first >= keep)
		(void)pool_purge(q, first, n, NULL);
	high = load_relaxed(&q->high);
	if (high <= keep || !pool_is_empty(q, high))
		return true;
	if (keep == 0)
		(void)pool_return(q);
	else
		(void)pool_purge(q, keep, high - keep, NULL);
	return true;
}

/* SPDX-License-Identifier: MIT */
/* libashlar-small.a: figures, all blocks, the check, and giving memory back on request. */
#include "ashlar.h"
#include "arena/arena_call.h"
#include "ashlar_heap.h"
#include "base/bits.h"
#include "small/find.h"
#include "small/space.h"

enum ash_place ash_find(const void *p, struct ash_block *out)
{
	(void)find_around(p, out);
	return out->place;
}

/* The members by which a walk knows where a pool's blocks are. */
struct pool_walk {
	int (*see)(void *context, void *block, size_t size, const struct ash_heap_owner *owner);
	void *context;
	const struct pool *pool;
};

static int see_inside(void *walk, void *block, size_t size, const struct ash_heap_owner *owner)
{
	const struct pool_walk *w = walk;

	/* If the pool has no memory, all its granules are taken: see pool_return. */
	if (!pool_has_memory(w->pool))
		return 0;
	return w->see(w->context, pool_outside(w->pool, arena_index(&w->pool->arena, block)),
		      size << pool_shift(w->pool->level), owner);
}

/* Walks over all blocks, in the order of their addresses. */
static int walk_pools(struct pool_walk *w)
{
	static const struct ash_heap_owner taken = {1, 0, true, 0};
	const char *at = NULL;
	uint64_t word;
	struct pool *q;
	int answer = 0;

	for (; answer == 0 && (word = place_next(&at)) != 0; at += PLACE_BYTES) {
		w->pool = q = place_pool(word);
		if (q != NULL)
			answer = arena_walk(&q->arena, see_inside, w);
		else if (large_bytes(word) != 0)
			answer = w->see(w->context, (void *)(uintptr_t)at, large_bytes(word), &taken);
	}
	return answer;
}

/* There is no other heap. */
int ash_heap_walk(ash_heap *heap, int (*visit)(void *, void *, size_t, const struct ash_heap_owner *), void *context)
{
	struct pool_walk w = {visit, context, NULL};

	(void)heap;
	return walk_pools(&w);
}

/* Returns the free granules of this granule's word, from this granule on, as bits. */
static inline uintptr_t free_from(const struct pool *q, size_t granule)
{
	return arena_free(load_relaxed(&q->arena.words[granule / ARENA_WORD])) >> granule % ARENA_WORD;
}

static inline bool is_free(const struct pool *q, size_t granule)
{
	return (free_from(q, granule) & 1) != 0;
}

/* Returns the end of the run from `at`, below `end`, of granules that are all free or all taken. */
static size_t run_end(const struct pool *q, size_t at, size_t end)
{
	bool free = is_free(q, at);
	uintptr_t other;

	for (; at < end; at = (at / ARENA_WORD + 1) * ARENA_WORD) {
		other = free_from(q, at) ^ (free ? ARENA_BODY >> at % ARENA_WORD : 0);
		if (other != 0) {
			at += bits_lowest(other);
			break;
		}
	}
	return at < end ? at : end;
}

/* Returns the bytes of a pool that are free, and were in blocks. */
static size_t pool_dirty(const struct pool *q)
{
	size_t high = load_relaxed(&q->high), at, end, sum = 0;

	for (at = 0; at < high; at = end) {
		end = run_end(q, at, high);
		sum += is_free(q, at) ? end - at : 0;
	}
	return sum * pool_granule(q->level);
}

void ash_stats(struct ash_statistics *out)
{
	struct pool_walk w = {arena_count, out, NULL};
	const char *at = NULL;
	uint64_t word;

	*out = (struct ash_statistics){.reserved = space_bytes()};
	for (; (word = place_next(&at)) != 0; at += PLACE_BYTES) {
		if (place_pool(word) != NULL)
			out->dirty += pool_dirty(place_pool(word));
		else if (large_bytes(word) != 0)
			out->spans += large_mapped(word);
	}
	(void)walk_pools(&w);
}

int ash_stats_class(unsigned row, struct ash_class *out)
{
	(void)row, (void)out;
	return 0;
}

void ash_stats_threads(void (*row)(void *context, const struct ash_thread_stats *figures), void *context)
{
	struct ash_statistics st;
	struct ash_thread_stats all = {.thread = NULL};

	ash_stats(&st);
	all.blocks = st.blocks;
	all.block_bytes = st.block_bytes;
	row(context, &all);
}

int ash_check(void)
{
	const char *at = NULL;
	uint64_t word;
	struct pool *q;
	int wrong = 0;

	for (; wrong == 0 && (word = place_next(&at)) != 0; at += PLACE_BYTES) {
		q = place_pool(word);
		if (q != NULL)
			wrong = arena_check(&q->arena);
	}
	return wrong;
}

/*
 * Gives back whole pages between blocks, while more than *spare bytes are free.  Returns the number of bytes.
 */
static size_t pool_trim(struct pool *q, size_t *spare)
{
	size_t high = load_relaxed(&q->high), at, end, gone = 0, bytes;

	for (at = 0; at < high && *spare != 0; at = end) {
		end = run_end(q, at, high);
		bytes = (end - at) * pool_granule(q->level);
		if (!is_free(q, at))
			continue;
		gone += pool_purge(q, at, end - at, pages_written);
		*spare -= bytes < *spare ? bytes : *spare;
	}
	return gone;
}

size_t ash_trim(size_t keep)
{
	const char *at = NULL;
	size_t gone = 0, spare = SIZE_MAX, dirty;
	struct ash_statistics st;
	uint64_t word;
	struct pool *q;

	if (keep != 0) {
		ash_stats(&st);
		spare = st.dirty > keep ? st.dirty - keep : 0;
	}
	for (; spare != 0 && (word = place_next(&at)) != 0; at += PLACE_BYTES) {
		q = place_pool(word);
		if (q == NULL) {
			/* Memory that the system did not take before. */
			if (large_bytes(word) == 0 && large_mapped(word) != 0)
				(void)large_release((void *)(uintptr_t)at, word); /* NOLINT: an address */
			continue;
		}
		dirty = pool_dirty(q);
		if (pool_is_current(q) || dirty > spare || !pool_return(q)) {
			gone += pool_trim(q, &spare);
		} else {
			gone += dirty;
			spare -= dirty;
		}
	}
	return gone;
}

/* Trims everything in one step. */
size_t ash_trim_step(size_t budget)
{
	(void)budget;
	(void)ash_trim(0);
	return 0;
}

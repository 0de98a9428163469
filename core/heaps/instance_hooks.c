/* SPDX-License-Identifier: MIT */
#include "heaps/instance_hooks.h"

#include "arena/arena_alloc.h"
#include "arena/arena_call.h"
#include "arena/arenas.h"
#include "backend/map.h"
#include "diagnostics/blocks.h"
#include "front/resize.h"
#include "heaps/instance.h"
#include "heaps/instance_release.h"
#include "heaps/instance_resize.h"
#include "shm/block_tags.h"
#include "shm/building.h"
#include "shm/census.h"
#include "shm/recover.h"
#include "shm/store.h"
#include "shm/thread_bench.h"

/*
 * Arenas first: their memory may be a block of any heap, which then also knows the
 * address.
 */
static bool release(struct chunk *c, void *p)
{
	struct arena *a = arenas_find(p);

	if (a != NULL) {
		if (!arena_release(a, p))
			arena_misuse(a, CALL_RELEASE, p);
		return true;
	}
	if (c == NULL)
		return false;
	if (c->region->heap == &heap_default) {
		arenas_gone_with(c, p);
		return false;
	}
	instance_release(c, p);
	return true;
}

static bool resize(struct chunk *c, void **p, size_t size, size_t alignment)
{
	struct arena *a = arenas_find(*p);

	if (a != NULL && alignment == RESIZE_IN_PLACE)
		*p = arena_fit(a, *p, size) ? *p : NULL;
	else if (a != NULL)
		*p = arena_resize(a, *p, size, alignment);
	else if (c == NULL)
		return false;
	else if (c->region->heap == &heap_default) {
		if (alignment != RESIZE_IN_PLACE)
			arenas_gone_with(c, *p);
		return false;
	} else
		*p = instance_resize(c, *p, size, alignment);
	return true;
}

static size_t bytes(const void *p)
{
	struct arena *a = arenas_find(p);

	return a == NULL ? 0 : arena_bytes(a, p);
}

static void report(const char *call, const void *p)
{
	struct arena *a = arenas_find(p);

	/*
	 * If the records of the arena lie in a block of a chunk, the chunk gives the better
	 * report.
	 */
	if (a == NULL && map_find(p) == NULL)
		a = arenas_around(p);
	if (a != NULL)
		arena_misuse(a, call, p);
}

static int walk(ash_heap *heap,
		int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context)
{
	if (arena_of(heap) != NULL)
		return arena_walk(arena_of(heap), see, context);
	return block_walk(heap_of(heap), true, see, context);
}

static void find(const void *p, const struct block_place *at, struct ash_block *out)
{
	struct arena *a = arenas_find(p);

	if (a == NULL) {
		if (out->place == ASH_TAKEN && store_shared(load_relaxed(&at->chunk->region)->heap) != NULL)
			out->owner = block_owner(at->chunk, at->slab, at->index);
		return;
	}
	*out = arena_find(a, p);
	out->heap = (ash_heap *)(void *)a;
}

static void tags_clear(struct slab *s)
{
	/*
	 * In a file on a tmpfs reading a page allocates it as well.  So the page is read here,
	 * and a full disk cannot end the thread that takes the slab over later.
	 */
	(void)*(volatile uint64_t *)s->remote;
	/* Where no slab was there are no bits, except in a file that was changed. */
	for (uint64_t g = 0; g < s->groups; g++)
		if (unlikely(load_relaxed(&s->remote[g]) != 0))
			store_relaxed(&s->remote[g], (uint64_t)0);
	/* Atomic: walks and views may read the tags of the slab that was here before. */
	for (uint64_t i = 0; i < s->slots; i++)
		store_relaxed(census_tag(s, i), TAG_NONE);
}

static bool is_quiet(struct heap *h)
{
	uint64_t sum;

	return building_quiet(store_of(h), &sum);
}

INTERNAL const struct heap_hooks instance_hooks = {
	.release = release,
	.resize = resize,
	.bytes = bytes,
	.gone = arenas_gone,
	.misuse = report,
	.walk = walk,
	.find = find,
	.run_made = run_made,
	.slab_made = tags_clear,
	.owner_memory = store_owner,
	.holder = recover_holder,
	.is_dead = recover_is_dead,
	.settle = recover_settle,
	.is_quiet = is_quiet,
	.thread_ends = thread_bench_leave,
};

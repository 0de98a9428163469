/* SPDX-License-Identifier: MIT */
#include "heaps/instance.h"

#include "arena/arena.h"
#include "arena/arena_call.h"
#include "backend/map.h"
#include "backend/retain.h"
#include "front/block.h"
#include "front/diagnose.h"
#include "front/span.h"
#include "heaps/benches.h"
#include "heaps/building.h"
#include "heaps/remains.h"
#include "heaps/seats.h"
#include "memory.h"

/* ---- resizing ---- */

/* Resizes a span in place.  Returns false if that is not possible. */
static bool span_stays(struct heap *h, struct chunk *c, size_t size)
{
	struct building b = building_begin(h, seats_self(h));
	bool fits = span_fit(c, size > 0 ? size : 1);

	retain_tick(h, 1); /* the span may be smaller now */
	building_end(b);
	return fits;
}

/*
 * Resizes the block at p in this chunk.  `alignment` is the result's, see front/block.h.  Returns NULL and leaves
 * the block intact if there is no memory, or no room in place.
 */
static void *resize_at(struct chunk *c, void *p, size_t size, size_t alignment)
{
	bool in_place = alignment == RESIZE_IN_PLACE, stays = resize_may_stay(p, alignment);
	size_t have = chunk_block(c, p);
	struct heap *h = chunk_heap(c);
	void *moved;

	if (!in_place || size < have)
		arenas_gone_with(c, p);
	if (!span_is(c, p)) {
		if (in_place ? size <= have : stays && block_fits(have, size < alignment ? alignment : size))
			return p;
	} else if (in_place || (size < alignment ? alignment : size) > SLOT_MAX) {
		if (stays && span_stays(h, c, size))
			return p;
		if (!in_place && heap_kind(h)->own_pages) {
			moved = span_resize(c, p, size > 0 ? size : 1, alignment);
			retain_tick(h, 1);
			if (moved != NULL)
				return moved; /* otherwise try again, after empty slabs were gathered */
		}
	}
	if (in_place)
		return NULL;
	moved = instance_alloc(h, size, alignment, false);
	if (moved != NULL && !instance_kind_of(h)->carry(c, p, moved)) {
		instance_release(map_find(moved), moved);
		moved = NULL;
	}
	if (moved == NULL)
		return stays && size <= have ? p : NULL; /* a smaller block needs no memory */
	memcpy(moved, p, size < have ? size : have);
	instance_release(c, p);
	return moved;
}

void *instance_resize(struct heap *h, const char *call, void *p, size_t alignment, size_t size)
{
	if (instance_bytes(h, call, p) == 0)
		return instance_alloc(h, size, alignment, false);
	if (!span_may_align(alignment) || size > PTRDIFF_MAX)
		return NULL;
	return resize_at(map_find(p), p, size, alignment);
}

void *ash_heap_resize(ash_heap *heap, void *p, size_t size)
{
	return instance_kind(heap)->resize(heap_of(heap), CALL_HEAP_RESIZE, p, 1, size);
}

void *ash_heap_aligned_resize(ash_heap *heap, void *p, size_t alignment, size_t size)
{
	return instance_kind(heap)->resize(heap_of(heap), CALL_HEAP_ALIGNED_RESIZE, p, alignment, size);
}

size_t instance_expand(struct heap *h, void *p, size_t size)
{
	struct chunk *c;

	if (instance_bytes(h, CALL_HEAP_EXPAND, p) == 0 || size > PTRDIFF_MAX)
		return 0;
	c = map_find(p);
	return resize_at(c, p, size, RESIZE_IN_PLACE) != NULL ? chunk_block(c, p) : 0;
}

size_t ash_heap_expand(ash_heap *heap, void *p, size_t size)
{
	return instance_kind(heap)->expand(heap_of(heap), p, size);
}

/* ---- functions that the default heap needs ---- */

/* Arenas are searched first, because their memory may be a block of any heap, which then also knows the address. */
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
	if (chunk_heap(c) == &heap_default) {
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
	else if (chunk_heap(c) == &heap_default) {
		/* Before the block shrinks, because afterwards other threads may take the memory. */
		if (alignment != RESIZE_IN_PLACE || size < chunk_block(c, *p))
			arenas_gone_with(c, *p);
		return false;
	} else
		*p = resize_at(c, *p, size, alignment);
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

	/* If the records of the arena lie in a block of a chunk, the chunk gives the better report. */
	if (a == NULL && map_find(p) == NULL)
		a = arenas_around(p);
	if (a != NULL)
		arena_misuse(a, call, p);
}

static int walk(ash_heap *heap, int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context)
{
	return instance_kind(heap)->walk(heap_of(heap), see, context);
}

static void find(const void *p, struct ash_block *out)
{
	struct arena *a = arenas_find(p);

	if (a == NULL)
		return;
	*out = arena_find(a, p);
	out->heap = (ash_heap *)(void *)a;
}

INTERNAL const struct heap_hooks instance_hooks = {
	.release = release,
	.resize = resize,
	.bytes = bytes,
	.gone = arenas_gone,
	.misuse = report,
	.walk = walk,
	.find = find,
	.thread_ends = thread_bench_leave,
	.trim = remains_trim,
};

void instance_set(void)
{
	store_relaxed(&instance_kinds[PAGES_PRIVATE], &instance_private);
	store_relaxed(&instance_kinds[PAGES_CALLERS], &instance_arena);
	store_relaxed(&heap_hooks, &instance_hooks); /* see heap_hooks_now */
}

struct chunk *instance_chunk(struct heap *h, const char *call, const void *p)
{
	struct chunk *c = map_find(p);

	if (c == NULL || chunk_heap(c) != h)
		misuse_heap(call, p);
	return c;
}

size_t instance_bytes(struct heap *h, const char *call, const void *p)
{
	size_t bytes;

	if (p == NULL)
		return 0;
	bytes = chunk_block(instance_chunk(h, call, p), p);
	if (bytes == 0)
		diagnose(call, p);
	return bytes;
}

size_t ash_heap_usable_size(ash_heap *heap, const void *p)
{
	return instance_kind(heap)->bytes(heap_of(heap), CALL_HEAP_USABLE_SIZE, p);
}

/* Arenas are searched first, because their memory may be a block of any heap. */
ash_heap *ash_heap_of(const void *p)
{
	struct arena *a = arenas_find(p);
	struct found f;
	struct heap *h;

	if (a != NULL)
		return (ash_heap *)(void *)a;
	find_address(p, &f);
	if (f.chunk == NULL)
		return NULL;
	h = chunk_heap(f.chunk);
	return h == &heap_default ? NULL : heap_public(h);
}

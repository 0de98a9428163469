/* SPDX-License-Identifier: MIT */
/* The calls of ashlar_heap.h on an arena. */
#include "arena/arena.h"
#include "arena/arena_call.h"
#include "heaps/instance.h"

static struct arena *arena_at(struct heap *h)
{
	return (struct arena *)(void *)h;
}

static void arena_release_one(struct heap *h, void *p)
{
	arena_call_release(arena_at(h), CALL_HEAP_RELEASE, p);
}

static void *arena_alloc_as(struct heap *h, size_t size, size_t alignment, bool zero)
{
	return arena_call_alloc(arena_at(h), size, alignment, zero);
}

static void *arena_resize_as(struct heap *h, const char *call, void *p, size_t alignment, size_t size)
{
	return arena_call_resize(arena_at(h), call, p, alignment, size);
}

static size_t arena_expand(struct heap *h, void *p, size_t size)
{
	return arena_call_expand(arena_at(h), p, size);
}

static size_t arena_bytes_of(struct heap *h, const char *call, const void *p)
{
	return arena_call_bytes(arena_at(h), call, p);
}

static int arena_walk_all(struct heap *h, int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context)
{
	return arena_walk(arena_at(h), see, context);
}

static uint64_t arena_root(struct heap *h)
{
	return load_acquire(&arena_at(h)->root); /* pairs with arena_set_root */
}

static void arena_set_root(struct heap *h, uint64_t root)
{
	store_release(&arena_at(h)->root, root);
}

INTERNAL const struct instance_kind instance_arena = {
	.release = arena_release_one,
	.alloc_as = arena_alloc_as,
	.resize = arena_resize_as,
	.expand = arena_expand,
	.bytes = arena_bytes_of,
	.good_size = arena_good_size,
	.walk = arena_walk_all,
	.extend = instance_extend,
	.release_owner = instance_release_owner,
	.root = arena_root,
	.set_root = arena_set_root,
};

/* SPDX-License-Identifier: MIT */
/*
 * libashlar-field.a: the calls of ashlar_heap.h for programs whose heaps are all arenas.  The library has
 * this file instead of heaps/, and arena/ unchanged.  Heaps are known by their handles alone.
 */
#include "arena/arena.h"
#include "arena/arena_call.h"

static ALWAYS_INLINE struct arena *arena_named(const char *call, ash_heap *heap)
{
	struct arena *a = (struct arena *)(void *)heap;

	if (unlikely(a->sharing != PAGES_CALLERS))
		misuse_report(call, heap, "heap already destroyed", NULL, 0);
	return a;
}

static struct arena *arena_at(ash_heap *heap)
{
	return arena_named(CALL_HEAP_ANY, heap);
}

#define FIELD_MIN ((size_t)1 << 10) /* bytes of memory of an arena, at least */

ash_heap *ash_heap_create_in(void *memory, size_t bytes)
{
	struct arena *a = arena_in((uintptr_t)memory);

	if (!arena_fits(memory, bytes, FIELD_MIN))
		return NULL;
	arena_set_up(a, (uintptr_t)memory, (uintptr_t)memory + bytes);
	return (ash_heap *)(void *)a;
}

void ash_heap_destroy(ash_heap *heap)
{
	/* Relaxed: no thread is in a call on this heap.  A late call, which is misuse, sees the change. */
	if (heap != NULL)
		store_relaxed(&arena_named(CALL_HEAP_DESTROY, heap)->sharing, PAGES_GONE);
}

void *ash_heap_alloc(ash_heap *heap, size_t size)
{
	return arena_alloc(arena_named(CALL_HEAP_ANY, heap), size, 1);
}

void *ash_heap_zalloc(ash_heap *heap, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return arena_call_alloc(arena_at(heap), bytes, 1, true);
}

void *ash_heap_aligned_alloc(ash_heap *heap, size_t alignment, size_t size)
{
	return arena_call_alloc(arena_at(heap), size, alignment, false);
}

void *ash_heap_aligned_zalloc(ash_heap *heap, size_t alignment, size_t size)
{
	return arena_call_alloc(arena_at(heap), size, alignment, true);
}

void *ash_heap_aligned_resize(ash_heap *heap, void *p, size_t alignment, size_t size)
{
	return arena_call_resize(arena_at(heap), CALL_HEAP_ALIGNED_RESIZE, p, alignment, size);
}

size_t ash_heap_expand(ash_heap *heap, void *p, size_t size)
{
	return arena_call_expand(arena_at(heap), p, size);
}

void *ash_heap_resize(ash_heap *heap, void *p, size_t size)
{
	return arena_call_resize(arena_at(heap), CALL_HEAP_RESIZE, p, 1, size);
}

void ash_heap_release(ash_heap *heap, void *p)
{
	arena_call_release(arena_named(CALL_HEAP_ANY, heap), CALL_HEAP_RELEASE, p);
}

void ash_heap_release_sized(ash_heap *heap, void *p, size_t size)
{
	arena_call_release_as(arena_at(heap), CALL_HEAP_RELEASE_SIZED, p, 1, size);
}

void ash_heap_release_aligned_sized(ash_heap *heap, void *p, size_t alignment, size_t size)
{
	arena_call_release_as(arena_at(heap), CALL_HEAP_RELEASE_ALIGNED, p, alignment, size);
}

size_t ash_heap_usable_size(ash_heap *heap, const void *p)
{
	return arena_call_bytes(arena_at(heap), CALL_HEAP_USABLE_SIZE, p);
}

size_t ash_heap_good_size(ash_heap *heap, size_t size)
{
	(void)arena_at(heap);
	return arena_good_size(size);
}

void ash_heap_stats(ash_heap *heap, struct ash_statistics *out)
{
	arena_stats(arena_at(heap), out);
}

int ash_heap_check(ash_heap *heap)
{
	return arena_check(arena_at(heap));
}

int ash_heap_walk(ash_heap *heap,
		  int (*visit)(void *context, void *block, size_t size,
			       const struct ash_heap_owner *owner),
		  void *context)
{
	return arena_walk(arena_at(heap), visit, context);
}

void *ash_heap_root(ash_heap *heap)
{
	return (void *)load_acquire(&arena_at(heap)->root); /* NOLINT: pairs with ash_heap_set_root */
}

void ash_heap_set_root(ash_heap *heap, void *root)
{
	store_release(&arena_at(heap)->root, (uintptr_t)root); /* pairs with ash_heap_root */
}

/* Calls that have nothing to do in an arena. */

size_t ash_heap_trim(ash_heap *heap, size_t keep)
{
	(void)arena_at(heap), (void)keep;
	return 0;
}

void ash_heap_thread_detach(ash_heap *heap)
{
	(void)arena_at(heap);
}

size_t ash_heap_recover(ash_heap *heap)
{
	(void)arena_at(heap);
	return 0;
}

size_t ash_heap_release_owner(ash_heap *heap, uint64_t owner)
{
	(void)arena_at(heap), (void)owner;
	return 0;
}

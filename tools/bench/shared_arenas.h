/* SPDX-License-Identifier: MIT */
/*
 * The side of shared.c of mimalloc (-DMIMALLOC) and jemalloc (-DJEMALLOC): an arena over a mapping
 * that is shared.  Its metadata is in the process's own memory, so it is one process's: of the
 * experiments it has only allocation and release by one process.
 */
#ifndef BENCH_SHARED_ARENAS_H
#define BENCH_SHARED_ARENAS_H

#include "shared_host.h"

#define ARENA_ALIGN ((size_t)64 << 20) /* mimalloc's least */

static char *arena_memory;

#ifdef MIMALLOC
#include <mimalloc.h>

static mi_heap_t *arena;

static void *take(size_t n)
{
	return mi_heap_malloc(arena, n);
}

static void give(void *p)
{
	mi_free(p);
}

static bool arena_open(void)
{
	mi_arena_id_t id;

	if (!mi_manage_os_memory_ex(arena_memory, CAPACITY, true, false, true, -1, true, &id))
		return false;
	arena = mi_heap_new_in_arena(id);
	return arena != NULL;
}
#else
#include <jemalloc/jemalloc.h>

static size_t arena_used;

static void *arena_extent(extent_hooks_t *hooks, void *at, size_t bytes, size_t alignment, bool *zero,
			  bool *commit, unsigned index)
{
	size_t from = (arena_used + alignment - 1) / alignment * alignment;

	(void)hooks, (void)index;
	if (at != NULL || from > CAPACITY || bytes > CAPACITY - from)
		return NULL;
	arena_used = from + bytes;
	*zero = *commit = true; /* the mapping's pages, which were never given out before */
	return arena_memory + from;
}

static bool arena_keep(extent_hooks_t *hooks, void *at, size_t bytes, bool committed, unsigned index)
{
	(void)hooks, (void)at, (void)bytes, (void)committed, (void)index;
	return true; /* jemalloc retains it */
}

static bool arena_split(extent_hooks_t *hooks, void *at, size_t bytes, size_t a, size_t b, bool committed,
			unsigned index)
{
	(void)hooks, (void)at, (void)bytes, (void)a, (void)b, (void)committed, (void)index;
	return false; /* it may */
}

static bool arena_merge(extent_hooks_t *hooks, void *a, size_t a_bytes, void *b, size_t b_bytes,
			bool committed, unsigned index)
{
	(void)hooks, (void)a, (void)a_bytes, (void)b, (void)b_bytes, (void)committed, (void)index;
	return false;
}

static void *take(size_t n)
{
	return mallocx(n, 0);
}

static void give(void *p)
{
	dallocx(p, 0);
}

/* The arena becomes the thread's own, so that its cache serves it. */
static bool arena_open(void)
{
	static extent_hooks_t hooks = {
		.alloc = arena_extent, .dalloc = arena_keep, .split = arena_split, .merge = arena_merge};
	extent_hooks_t *with = &hooks;
	unsigned index;
	size_t length = sizeof index;

	return mallctl("arenas.create", &index, &length, &with, sizeof with) == 0 &&
	       mallctl("thread.tcache.flush", NULL, NULL, NULL, 0) == 0 &&
	       mallctl("thread.arena", NULL, NULL, &index, sizeof index) == 0;
}
#endif

#include "shared_two_steps.h"

static bool arena_has(const void *p)
{
	return (const char *)p >= arena_memory && (const char *)p < arena_memory + CAPACITY;
}

static bool heap_open(const char *of)
{
	char *at = (char *)common_memory(CAPACITY + ARENA_ALIGN);
	void *small, *larger;
	bool done;

	if (at == NULL || same(of, "") || of[0] != '1')
		return false;
	arena_memory = at + -(uintptr_t)at % ARENA_ALIGN;
	if (!arena_open())
		return false;
	small = take(64);
	larger = take(1000);
	done = arena_has(small) && arena_has(larger);
	give(small);
	give(larger);
	return done;
}

/* ---- what it has not ---- */

static bool heap_make(size_t capacity)
{
	(void)capacity;
	return false;
}

static bool heap_again(void)
{
	return false;
}

static void heap_leave(void)
{
}

static bool heap_join(void)
{
	return false;
}

static bool heap_give_back(void)
{
	return false;
}

static uint64_t blocks_left(void)
{
	return 1;
}

#endif

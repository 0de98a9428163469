/* SPDX-License-Identifier: MIT */
/* Ashlar's side of shared.c. */
#ifndef BENCH_SHARED_ASHLAR_H
#define BENCH_SHARED_ASHLAR_H

#include "ashlar_heap.h"
#include "rt.h"

#define print      rt_print
#define now        rt_now
#define yield()    rt_yield()
#define same(a, b) (rt_strcmp(a, b) == 0)
#define leave(n)   rt_exit(n)

static ash_heap *heap; /* NULL: the default one */
static int heap_file;

static void *take(size_t n)
{
	return heap == NULL ? ash_alloc(n) : ash_heap_alloc(heap, n);
}

static void give(void *p)
{
	if (heap == NULL)
		ash_release(p);
	else
		ash_heap_release(heap, p);
}

static void *take_zeroed(size_t n)
{
	return ash_heap_zalloc(heap, 1, n);
}

static void take_into(void **slot, size_t n)
{
	(void)ash_heap_alloc_into(heap, n, slot, NULL);
}

static void take_instead(void **slot, size_t n)
{
	void *p = ash_heap_draft(heap, n);

	*(volatile char *)p = 1;
	if (ash_heap_replace(heap, slot, ash_heap_load(heap, slot), p) != ASH_SLOT_DONE)
		rt_exit(1);
}

static void give_from(void **slot)
{
	(void)ash_heap_release_from(heap, slot);
}

/* A file of memory that has no name, in no folder: children have its descriptor. */
static bool heap_make(size_t capacity)
{
	heap = ash_heap_create_file(heap_file, capacity, NULL);
	return heap != NULL;
}

static bool heap_again(void)
{
	heap = ash_heap_attach_file(heap_file, NULL);
	return heap != NULL;
}

static void heap_leave(void)
{
	ash_heap_destroy(heap);
}

static void heap_remove(void)
{
}

static bool heap_open(const char *of)
{
	if (same(of, "default"))
		return true;
	if (same(of, "private"))
		heap = ash_heap_create(NULL);
	else if (same(of, "file"))
		return heap_make(CAPACITY);
	else
		heap = ash_heap_create_shared(CAPACITY, NULL);
	return heap != NULL;
}

static uint64_t blocks_left(void)
{
	struct ash_statistics s;

	ash_heap_stats(heap, &s);
	return s.blocks;
}

static void *common_memory(size_t bytes)
{
	ash_heap *h = ash_heap_create_shared(bytes, NULL);

	heap_file = rt_memory_file("bench");
	return h == NULL ? NULL : ash_heap_zalloc(h, 1, bytes);
}

static bool start_process(void)
{
	return rt_fork() == 0;
}

static long start_process_known(void)
{
	return rt_fork();
}

static void kill_process(long pid)
{
	rt_kill(pid, 9);
}

static void pause_for(uint64_t nanoseconds)
{
	rt_sleep(nanoseconds);
}

/* SIGALRM ends the process. */
static void end_after(unsigned seconds)
{
	rt_timer(seconds * 1000000);
}

static bool process_ended_well(void)
{
	int status;

	return rt_wait_any(&status) > 0 && status == 0;
}

#endif

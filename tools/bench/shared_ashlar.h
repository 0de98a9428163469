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
/* Of blocks that words of the heap name, where some are to be released by heap_give_back: others have the tag 0. */
static unsigned char named;

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
	void *p = ash_heap_draft_tagged(heap, n, named);
	enum ash_slot done;

	if (p == NULL)
		fail("full");
	*(volatile char *)p = 1;
	while ((done = ash_heap_replace(heap, slot, ash_heap_load(heap, slot), p)) == ASH_SLOT_CHANGED) {
	}
	if (done != ASH_SLOT_DONE)
		fail("no step");
}

static void give_from(void **slot)
{
	(void)ash_heap_release_from(heap, slot);
}

/* A file of memory that has no name, in no folder: children have its descriptor. */
static bool heap_make(size_t capacity)
{
	named = 1;
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

static bool heap_join(void)
{
	return true;
}

static int find_dead(void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	(void)size;
	if (!owner->live && owner->id != 0 && owner->tag == 0)
		ash_heap_release((ash_heap *)context, block);
	return 0;
}

/* First what the dead had not yet published, or had already taken out. */
static bool heap_give_back(void)
{
	(void)ash_heap_recover(heap);
	(void)ash_heap_walk(heap, find_dead, heap);
	return true;
}

static uint64_t heap_file_bytes(void)
{
	return rt_file_memory(heap_file);
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

static int count_block(void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	(void)block;
	(void)size;
	(void)owner;
	++*(uint64_t *)context;
	return 0;
}

static uint64_t blocks_left(void)
{
	uint64_t n = 0;

	(void)ash_heap_walk(heap, count_block, &n);
	return n;
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

/* SPDX-License-Identifier: MIT */
/*
 * The two sides of shared.c: Ashlar without a libc, and Boost.Interprocess
 * with the host's.  Both give the same calls.
 */
#ifndef BENCH_SHARED_H
#define BENCH_SHARED_H

#define CAPACITY ((size_t)256 << 20)

#ifdef BOOST

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <boost/interprocess/managed_shared_memory.hpp>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define _Alignas(n) alignas(n)
#define print      printf
#define yield()    sched_yield()
#define same(a, b) (strcmp(a, b) == 0)

static boost::interprocess::managed_shared_memory *segment;
static char segment_name[64];

#define take(n) segment->allocate(n)
#define give(p) segment->deallocate(p)

/* Its name is needed only until all have it: by fork here, so not at all. */
static bool heap_open(const char *)
{
	snprintf(segment_name, sizeof segment_name, "ashlar-bench-%ld", (long)getpid());
	segment = new boost::interprocess::managed_shared_memory(boost::interprocess::create_only,
								 segment_name, CAPACITY);
	boost::interprocess::shared_memory_object::remove(segment_name);
	return true;
}

static uint64_t blocks_left(void)
{
	return segment->all_memory_deallocated() ? 0 : 1;
}

static void *common_memory(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool start_process(void)
{
	return fork() == 0;
}

static void leave(int status)
{
	fflush(stdout);
	_exit(status);
}

static bool process_ended_well(void)
{
	int status;

	return wait(&status) > 0 && status == 0;
}

#else

#include "ashlar_heap.h"
#include "rt.h"

#define print      rt_print
#define now        rt_now
#define yield()    rt_yield()
#define same(a, b) (rt_strcmp(a, b) == 0)
#define leave(n)   rt_exit(n)

static ash_heap *heap; /* NULL: the default one */

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

static bool heap_open(const char *of)
{
	if (same(of, "default"))
		return true;
	heap = same(of, "private") ? ash_heap_create(NULL) : ash_heap_create_shared(CAPACITY, NULL);
	return heap != NULL;
}

static uint64_t blocks_left(void)
{
	struct ash_stats s;

	ash_heap_stats(heap, &s);
	return s.blocks;
}

static void *common_memory(size_t bytes)
{
	ash_heap *h = ash_heap_create_shared(bytes, NULL);

	return h == NULL ? NULL : ash_heap_zalloc(h, 1, bytes);
}

static bool start_process(void)
{
	return rt_fork() == 0;
}

static bool process_ended_well(void)
{
	int status;

	return rt_wait_any(&status) > 0 && status == 0;
}

#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * Calls on the default heap and on private ones make no system call but mmap, munmap, mremap and
 * madvise, but for the process's first one: a filter may kill for any other.
 */
/* promises: ash_alloc, ash_release, ash_heap_create, ash_heap_alloc */
#include "ashlar_heap.h"
#include "inner/thread_at.h"
#include "program/calls.h"
#include "support/blocks.h"

/* The test makes none of these itself while it watches. */
static _Atomic bool watching;

/* Where the kernel does not wipe the mark's page, as under QEMU, a fork is told by getpid: sys/generation.c. */
static bool is_allowed(const char *call)
{
	return rt_under_qemu() && rt_strcmp(call, "getpid") == 0;
}

static void watch(const char *call)
{
	if (watching && !is_allowed(call))
		rt_fail(__FILE__, __LINE__, call);
}

#define WATCH(call) WRAP_CALL(call, watch(#call))
CALLS_THAT_ASK(WATCH)
WATCH(msync)
WATCH(fstat)
WATCH(fcntl)

enum { BLOCKS = 3000 };

static ash_heap *heap;
static void *left[BLOCKS];

static void work(void)
{
	static _Thread_local void *p[BLOCKS], *q[BLOCKS];
	unsigned i;

	for (i = 0; i < BLOCKS; i++) {
		CHECK((p[i] = ash_alloc(16 + i * 20)) != NULL);
		CHECK((q[i] = ash_heap_zalloc(heap, 1, 16 + i * 20)) != NULL);
	}
	for (i = 0; i < BLOCKS; i++) {
		ash_release(p[i]);
		ash_heap_release(heap, q[i]);
	}
	CHECK((p[0] = ash_resize(ash_alloc(3 * MIB), 20 * MIB)) != NULL);
	ash_release(ash_resize(p[0], 2 * MIB));
	ash_heap_release(heap, ash_heap_resize(heap, ash_heap_alloc(heap, 3 * MIB), 20 * MIB));
}

static void works(UNUSED void *argument)
{
	work();
}

static void leaves(void)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		CHECK((left[i] = i % 2 != 0 ? ash_alloc(500) : ash_heap_alloc(heap, 500)) != NULL);
}

static void threads(void)
{
	for (unsigned round = 0; round < 4; round++) {
		rt_in_thread(works, NULL); /* detaches at its end */
		thread_at(round % 2, leaves);
		release_each(left, BLOCKS);
	}
}

TEST(four_calls_suffice, 30)
{
	CHECK(ash_alloc(1) != NULL); /* fstat: what standard error is, see sys/panic.c */
	watching = true;
	heap = NOT_NULL(ash_heap_create(NULL));
	work();
	threads();
	work();
	CHECK(ash_alloc(SIZE_MAX / 4) == NULL);
	ash_heap_thread_detach(heap);
	IN_CHILD {
		work();
		if (!rt_under_qemu()) /* see tests/inner/thread/fork_takeover.c */
			threads();
		ash_heap_destroy(heap);
	}
	ash_heap_destroy(heap);
	watching = false;
	CHECK_EQ(ash_check(), 0);
}

/* SPDX-License-Identifier: MIT */
/* Heaps in files, a helping thread, and a child of vfork that works in a shared heap. */
#ifndef TESTS_STORE_INNER_LEAVING_H
#define TESTS_STORE_INNER_LEAVING_H

#include "ashlar_heap.h"
#include "heaps/instance.h"
#include "kernel.h"
#include "rt.h"
#include "store/recover/census.h"
#include "heaps/seats.h"
#include "syscall.h"
#include "thread/seat.h"

#undef seat /* here the object's own name, not the way to it (thread/seat.h) */

enum { AWAY_VFORK = 0x4000 | CLONE_VM | 17 /* SIGCHLD */, AWAY_STACK = 64 * 1024 };

/* ---- a heap in a file ---- */

static inline int make_file(size_t capacity)
{
	long fd = arch_memfd_create("heap", 0);
	ash_heap *h;

	CHECK(fd >= 0);
	h = NOT_NULL(ash_heap_create_file((int)fd, capacity, NULL));
	ash_heap_destroy(h);
	return (int)fd;
}

static inline ash_heap *attach(int fd)
{
	enum ash_attach why;
	ash_heap *h = ash_heap_attach_file(fd, &why);

	CHECK_EQ(why, ASH_ATTACHED);
	return h;
}

/* Another thread, which does something when it is told to. */
static struct helper {
	ash_heap *_Atomic heap;
	_Atomic unsigned asked, done;
	void (*act)(void);
	struct owner *_Atomic seat;
} helper;

static inline void help(UNUSED void *argument)
{
	for (;;) {
		while (helper.asked == helper.done)
			rt_yield();
		helper.act();
		helper.done++;
	}
}

static inline void helper_does(void (*act)(void))
{
	if (helper.asked == 0)
		CHECK(rt_thread_start(help, NULL) != NULL);
	helper.act = act;
	helper.asked++;
	while (helper.asked != helper.done)
		rt_yield();
}

static inline void use(void)
{
	void *p = NOT_NULL(ash_heap_alloc(helper.heap, 100));

	ash_heap_release(helper.heap, p);
	helper.seat = seats_self(heap_of(helper.heap));
}

/* ---- vfork ---- */

static ash_heap *heap UNUSED;
static void *_Atomic *left UNUSED; /* what the child allocated last */

static inline void heap_make(void)
{
	heap = NOT_NULL(ash_heap_create_shared(8 * MIB, NULL));
	left = NOT_NULL(ash_heap_zalloc(heap, 1, sizeof *left));
	/* The caller has no seat. */
	ash_heap_thread_detach(heap);
	thread_bench_leave();
}

static inline void work(unsigned seed)
{
	void *p[64];
	size_t i;

	for (i = 0; i < 64; i++) {
		p[i] = NOT_NULL(ash_heap_alloc(heap, (i + seed) % 5 * 300 + 8));
		*(size_t *)p[i] = seed + i;
	}
	p[0] = ash_heap_resize(heap, p[0], 3 * MIB);
	for (i = 0; i < 64; i++) {
		CHECK(p[i] != NULL && *(size_t *)p[i] == seed + i);
		ash_heap_release(heap, p[i]);
	}
}

static inline _Noreturn void work_and_end(UNUSED void *argument)
{
	work(7);
	*left = ash_heap_alloc(heap, 100);
	CHECK_EQ(ash_heap_recover(heap), 0);
	for (;;)
		arch_exit_group(0);
}

static inline void vfork_works(void)
{
	static char stack[AWAY_STACK];
	long pid = arch_clone(AWAY_VFORK, stack + AWAY_STACK, NULL, NULL, NULL, work_and_end, NULL);

	CHECK(pid > 0);
	CHECK_EQ(rt_wait(pid), 0);
}

/* What another process takes for a dead one's records. */
static inline int recovered_by_another(void)
{
	long pid = rt_fork();

	if (pid == 0) {
		size_t records = ash_heap_recover(heap);

		ash_heap_thread_detach(heap);
		rt_exit((int)records);
	}
	return rt_wait(pid);
}

#endif

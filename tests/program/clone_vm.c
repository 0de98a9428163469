/* SPDX-License-Identifier: MIT */
/*
 * Children that share the memory and are no threads (CLONE_VM without CLONE_THREAD), with thread-local memory
 * of their own.  They release their parent's blocks, leave some of their own, and end, or are killed anywhere; others come
 * to where they were.  What the parent has stays its own.
 */
/* promises: ash_alloc, ash_release, ash_trim */
#include "ashlar_start.h"
#include "program/audit.h"
#include "program/child.h"
#include "thread/seat.h"
#include "thread/takeover.h"

enum { BLOCKS = 3000, PLACES = 3, LIVE = 200 };

static _Alignas(64) char memory[PLACES][1 << 20];
static unsigned char *shared[BLOCKS]; /* of the parent: its children release them */
static _Atomic size_t shared_next;
static unsigned char *left[PLACES][LIVE];
static _Atomic size_t calls;
static _Atomic unsigned seed;

static void child_main(void *forever)
{
	unsigned char *mine[LIVE] = {0};
	struct rt_random random;
	size_t n, at, place = (size_t)((char *)&random - memory[0]) / sizeof memory[0];

	rt_seed(&random, ++seed);
	for (n = 0; forever != NULL || n < 3000; n++, calls++) {
		at = rt_below(&random, LIVE);
		if (mine[at] != NULL) {
			CHECK_EQ(mine[at][0], (unsigned char)at);
			ash_release(mine[at]);
			mine[at] = NULL;
		} else {
			mine[at] = ash_alloc(16 + rt_below(&random, (size_t)16 << rt_below(&random, 17)));
			mine[at][0] = (unsigned char)at;
		}
		if (n % 4 == 0 && (at = shared_next++) < BLOCKS) {
			CHECK_EQ(shared[at][0], (unsigned char)(at + 1));
			ash_release(shared[at]);
		}
		if (n % 700 == 699)
			(void)ash_trim(0);
	}
	for (at = 0; at < LIVE; at++)
		left[place][at] = mine[at];
	for (;;)
		(void)arch_exit(0);
}

static long start(size_t place, bool forever)
{
	char *m = memory[place], *top = m + sizeof memory[place];
	long pid;

	memset(m, 0, ashlar_tls_size());
	pid = arch_clone(CLONE_VM | 0x80000 | 17, top, NULL, NULL, ashlar_tls_init(m), child_main, forever ? m : NULL); /* SETTLS */
	CHECK(pid > 0);
	return pid;
}

static void parents_blocks(void)
{
	shared_next = BLOCKS;
	for (size_t i = 0; i < BLOCKS; i++) {
		size_t size = 16 + i * 997 % 40000;

		shared[i] = NOT_NULL(ash_alloc(size));
		memset(shared[i], (int)(unsigned char)(i + 1), size);
	}
	shared_next = 0;
}

static void rest_of_parents(void)
{
	for (size_t i = shared_next; i < BLOCKS; i++) {
		CHECK_EQ(shared[i][0], (unsigned char)(i + 1));
		CHECK_EQ(shared[i][15], (unsigned char)(i + 1));
		ash_release(shared[i]);
	}
}

/* The parent's own, at work meanwhile. */
static void parent_works(unsigned rounds)
{
	static unsigned char *own[LIVE];

	for (unsigned n = 0; n < rounds; n++)
		for (size_t i = 0; i < LIVE; i++) {
			if (own[i] != NULL) {
				CHECK_EQ(own[i][0], i % 256);
				CHECK_EQ(own[i][(i * 211) % 50000], i % 256);
				ash_release(own[i]);
			}
			own[i] = NOT_NULL(ash_alloc(1 + (i * 211) % 50000));
			own[i][0] = own[i][(i * 211) % 50000] = (unsigned char)i;
		}
}

TEST(clone_vm_children_that_end, 60)
{
	long pid[PLACES];

	if (rt_under_qemu())
		rt_skip("QEMU 7.2 makes vfork a fork");
	for (unsigned round = 0; round < 4; round++) {
		parents_blocks();
		for (size_t i = 0; i < PLACES; i++)
			pid[i] = start(i, false);
		parent_works(10);
		for (size_t i = 0; i < PLACES; i++)
			CHECK_EQ(rt_wait(pid[i]), 0);
		rest_of_parents();
		for (size_t i = 0; i < PLACES; i++)
			for (size_t k = 0; k < LIVE; k++)
				if (left[i][k] != NULL)
					ash_release(left[i][k]);
		CHECK_EQ(ash_check(), 0);
	}
	(void)ash_trim(0);
	CHECK_EQ(ash_check(), 0);
}

TEST(clone_vm_children_that_are_killed, 100)
{
	long pid[PLACES];

	if (rt_under_qemu())
		rt_skip("QEMU 7.2 makes vfork a fork");
	for (unsigned round = 0; round < 16; round++) {
		parents_blocks();
		calls = 0;
		for (size_t i = 0; i < PLACES; i++)
			pid[i] = start(i, true);
		parent_works(2);
		while (calls < 50 + round * 97)
			rt_yield();
		for (size_t i = 0; i < PLACES; i++) {
			(void)arch_kill(pid[i], 9);
			CHECK_EQ(rt_wait(pid[i]), 1009);
		}
		parent_works(2);
		if (round % 4 == 0) {
			for (size_t i = 0; i < PLACES; i++)
				CHECK_EQ(rt_wait(start(i, false)), 0);
			(void)reap_all(&heap_default, seat.self);
		}
		CHECK_EQ(ash_check(), 0);
	}
	(void)ash_trim(0);
	CHECK_EQ(ash_check(), 0);
}

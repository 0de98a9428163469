/* SPDX-License-Identifier: MIT */
/*
 * A handler at each instruction boundary of a call, by the CPU's trap flag:
 * SIGTRAP after every instruction.  For each k the call runs again and the
 * handler acts at the k-th boundary.
 */
/* promises: ash_alloc, ash_check, ash_release, ash_resize, ash_thread_detach */
#include "support/blocks.h"
#include "support/handler_at_step.h"

/* ---- calls; each leaves the number of blocks as it was ---- */

enum { FEW = 7 };

static uint64_t held[FEW + 1], foreign, foreign_too;
static size_t the_size;
static bool detach_first, slabs_taken;

DOES(call_alloc_release, ash_release(ash_alloc(the_size)));
DOES(call_resize, ash_release(ash_resize(ash_zalloc(1, the_size), 3 * the_size)));

/* More blocks than fit a slab: slabs are made, full, given back. */
static void call_slabs(void)
{
	for (size_t i = 0; i < FEW; i++)
		held[i] = (uintptr_t)ash_alloc(the_size);
	for (size_t i = 0; i < FEW; i++)
		ash_release((void *)(uintptr_t)held[i]);
}

/* A block of a thread that is no more. */
DOES(call_release_foreign, ash_release(stamp_block(foreign)));
DOES(call_trim, ash_trim(0));
DOES(call_check, CHECK_EQ(ash_check(), 0));

/* ---- acts ---- */

static void act_alloc(void)
{
	uint64_t own = stamp_set(ash_alloc(40), 40, 1), large = stamp_set(ash_alloc(40000), 40000, 2);

	CHECK_EQ(ash_check(), 0);
	own = stamp_resize(own, 300, 3);
	stamp_release(large);
	stamp_release(own);
}

/* The handler releases a block that the interrupted thread allocated before. */
static void act_release_held(void)
{
	stamp_release(held[FEW]);
	held[FEW] = stamp_set(ash_alloc(the_size), the_size, boundary);
}

/* The other way round: another slot is taken then, and the bits that the interrupted call read are old. */
static void act_exchange_held(void)
{
	uint64_t old = held[FEW];

	held[FEW] = stamp_set(ash_alloc(the_size), the_size, boundary);
	stamp_release(old);
}

/* Of the same thread, which has ended: an inbox entry for the present guest of its record. */
DOES(act_release_foreign, stamp_release(foreign_too));

/* Slabs go from list to list, in every second act back again. */
static void act_slabs(void)
{
	static void *blocks[3 * FEW];

	for (size_t i = 0; i < 3 * FEW; i++)
		if (blocks[i] == NULL) {
			blocks[i] = ash_alloc(the_size);
		} else {
			ash_release(blocks[i]);
			blocks[i] = NULL;
		}
	slabs_taken = blocks[0] != NULL;
}

/* ---- */

static void leave_body(void *size)
{
	foreign = stamp_set(ash_alloc(*(const size_t *)size), *(const size_t *)size, 5);
	if (act == act_release_foreign)
		foreign_too = stamp_set(ash_alloc(9000), 9000, 6);
}

/* Two threads release blocks that a third left: one of them has seen to it that all are collected. */
static void check_collected(bool acted_once)
{
	if (!acted_once)
		stamp_release(foreign_too);
	CHECK_EQ(stats_now().pending, 0);
}

static void check_left(size_t blocks)
{
	CHECK_EQ(ash_check(), 0);
	CHECK_EQ(stats_now().blocks, blocks);
	CHECK(stats_now().owners <= (foreign == 0 ? 1 : 2)); /* a handler never gets one of its own */
}

/* Every `stride`-th boundary of the call; how many there are. */
static size_t at_each_step(void (*call)(void), void (*acting)(void), size_t size, size_t stride)
{
	size_t k;
	bool more = true;

	step_begin(acting);
	the_size = size;
	for (k = 0; more; k += stride) {
		if (call == call_release_foreign)
			rt_in_thread(leave_body, &the_size);
		held[FEW] = stamp_set(ash_alloc(size), size, k);
		if (detach_first)
			ash_thread_detach();
		more = with_act_at(k, call);
		if (acting == act_release_foreign)
			check_collected(more);
		if (slabs_taken)
			act_slabs();
		stamp_release(held[FEW]);
		if (k % 8 == 0 || !more)
			check_left(0);
	}
	return k;
}

/*
 * A trap takes 10 us on the virtual machine this was written on, and the k-th
 * run has k of them: long calls are acted in at some boundaries only.  QEMU
 * is faster at it.
 */
static size_t stride(size_t native)
{
	return rt_under_qemu() ? (native + 2) / 3 : native;
}

/* Of calls so long that make test has a sixth of it. */
static size_t long_stride(size_t full)
{
	return rt_in_full() ? full : stride(6 * full);
}

/*
 * tests/inner/steps/harness.c goes through more paths, with a handler that allocates; here the handler meets
 * the blocks of the call that it interrupts.
 */
TEST(signal_at_each_step_of_fast_calls, 30)
{
	CHECK(at_each_step(call_alloc_release, act_alloc, 48, 1) > 30);
	CHECK(at_each_step(call_alloc_release, act_release_held, 48, 1) > 30);
	CHECK(at_each_step(call_resize, act_exchange_held, 48, 1) > 100);
	CHECK(at_each_step(call_resize, act_release_held, 100, stride(7)) > 100);
}

TEST(signal_at_each_step_of_slow_calls, 30)
{
	CHECK(at_each_step(call_slabs, act_release_held, 12000, long_stride(37)) > 500);
	CHECK(at_each_step(call_trim, act_release_held, 5000, long_stride(411)) > 1000);
	CHECK(at_each_step(ash_thread_detach, act_release_held, 48, long_stride(97)) > 1000);
	CHECK(at_each_step(call_release_foreign, act_release_held, 48, long_stride(17)) > 100);
	CHECK(at_each_step(call_release_foreign, act_release_foreign, 48, stride(29)) > 100);
}

TEST(signal_at_each_step_of_a_first_call, 30)
{
	detach_first = true;
	CHECK(at_each_step(call_alloc_release, act_release_held, 48, rt_in_full() ? 3 : 11) > 100);
}

TEST(signal_at_each_step_of_a_check, 30)
{
	/* The handler works alike each time: all boundaries in a few runs. */
	act_again = 3;
	CHECK(at_each_step(call_check, act_slabs, 12000, 1500) > 3000);
}

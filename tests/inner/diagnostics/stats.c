/* SPDX-License-Identifier: MIT */
/* The figures of ash_stats, to the byte, and of ash_stats_threads. */
/* promises: ash_stats, ash_stats_threads */
#include "front/block.h"
#include "inner/slots.h"
#include "syscall.h"
#include "thread/seating.h"

TEST(inner_figures_of_stats, 10)
{
	struct ash_statistics st;
	char *p = ash_alloc(100), *q = ash_alloc(5000), *r = ash_alloc(5 * MIB), *n;
	size_t bytes = 112 + ash_usable_size(q) + ash_usable_size(r);
	struct slab *s = place_of(p).slab, *t = place_of(q).slab;

	ash_stats(&st);
	CHECK(st.blocks == 3 && st.block_bytes == bytes && st.pending == 0);
	CHECK_EQ(st.spans, 6 * MIB);
	CHECK_EQ(st.slabs, (s->units + t->units) * UNIT_SIZE);
	CHECK_EQ(st.owners, 1);
	CHECK_EQ(st.reserved, heap_default.reserved * CHUNK_SIZE);
	rt_in_thread(ash_release, p);
	ash_stats(&st);
	CHECK(st.blocks == 2 && st.block_bytes == bytes - 112 && st.pending == 1);
	/* An unowned slab has no pending releases. */
	(void)seat_take();
	n = ash_alloc(200);
	ash_stats(&st);
	CHECK(st.blocks == 3 && st.block_bytes == bytes - 112 + ash_usable_size(n));
	CHECK_EQ(st.pending, 1);
	ash_release(n);
	seat_open();
	ash_release(r);
	ash_stats(&st);
	CHECK_EQ(st.spans, 0);
	CHECK_EQ(st.dirty, heap_default.dirty * UNIT_SIZE);
	CHECK(st.blocks == 1 && st.block_bytes == ash_usable_size(q));
}

static void count_mine(void *blocks, const struct ash_thread_stats *figures)
{
	if (figures->thread == __builtin_thread_pointer())
		*(size_t *)blocks += figures->blocks;
}

static void vanish(UNUSED void *unused)
{
	CHECK(ash_alloc(5000) != NULL);
	(void)arch_exit(0); /* past the runtime's ash_thread_detach */
}

static void look_after(UNUSED void *unused)
{
	size_t blocks = 0;
	void *p = ash_alloc(300);

	ash_stats_threads(count_mine, &blocks);
	CHECK_EQ(blocks, 1);
	ash_release(p);
}

/* A thread that gets the memory of a thread that ended without ash_thread_detach has its seat, and not its blocks. */
TEST(inner_figures_of_a_thread_that_vanished, 10)
{
	ash_release(ash_alloc(1));
	rt_thread_join(NOT_NULL(rt_thread_start(vanish, NULL)));
	rt_thread_join(NOT_NULL(rt_thread_start(look_after, NULL)));
}

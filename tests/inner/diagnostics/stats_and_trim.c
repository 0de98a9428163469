/* SPDX-License-Identifier: MIT */
/* What ash_stats and the parts of ash_trim tell, to the byte. */
/* promises: ash_stats, ash_trim */
#include "front/block.h"
#include "inner/slots.h"
#include "memory.h"
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

enum { PIECE = 8192, PIECES = 24 };

/* Purged pages of free slots, in current and listed slabs; `room` is what may stay resident. */
TEST(inner_figures_of_purges, 10)
{
	static char *p[PIECES];
	size_t room = 0, bytes;
	struct owner *o;

	if (rt_under_qemu())
		rt_skip("resident memory is the emulator's");
	for (size_t i = 0; i < PIECES; i++) {
		p[i] = ash_alloc(PIECE);
		memset(p[i], 1, PIECE);
	}
	CHECK(place_of(p[0]).slab != place_of(p[PIECES - 1]).slab);
	for (size_t i = 0; i < PIECES; i += 2)
		ash_release(p[i]);
	o = seat_take();
	CHECK(o->bins[class_of(PIECE)].slab != 0);
	bytes = slabs_purge(o, &room);
	CHECK_EQ(bytes, PIECES / 2 * PIECE);
	CHECK_EQ(slabs_purge(o, &room), 0);
	CHECK_EQ(room, 0);
	seat_open();
	for (size_t i = 0; i < PIECES; i += 2)
		CHECK(p[i + 1][0] == 1); /* no look at the others: it would map a page */
	/* Only the current slab has free pages. */
	p[0] = ash_alloc(PIECE);
	memset(p[0], 1, PIECE);
	ash_release(p[0]);
	o = seat_take();
	CHECK_EQ(slabs_purge(o, &room), PIECE);
	room = 3 * PIECE / 2;
	p[0][0] = 1; /* one page, and there is room for three */
	CHECK_EQ(slabs_purge(o, &room), 0);
	seat_open();
	CHECK_EQ(ash_check(), 0);
}

static _Atomic int step;

static void sleeper(UNUSED void *argument)
{
	char *p = ash_alloc(PIECE), *q = ash_alloc(PIECE);

	memset(p, 1, PIECE);
	ash_release(p);
	(void)seat_take();
	bin_detach(seat.self, class_of(PIECE));
	seat_open();
	step = 1;
	while (step == 1)
		rt_sleep(100000);
	ash_release(q);
}

TEST(inner_figures_of_purges_of_others, 10)
{
	struct rt_thread *thread = rt_thread_start(sleeper, NULL);
	size_t room = 0;

	if (rt_under_qemu())
		rt_skip("resident memory is the emulator's");
	while (step == 0)
		rt_sleep(100000);
	ash_release(ash_alloc(10));
	CHECK_EQ(slabs_purge_others(&heap_default, seat.self, &room), PIECE);
	CHECK_EQ(slabs_purge_others(&heap_default, seat.self, &room), 0);
	step = 2;
	rt_thread_join(thread);
	CHECK_EQ(ash_check(), 0);
}

/* More pages than one call of mincore reports. */
TEST(inner_figures_of_pages, 10)
{
	size_t bytes = 12 * MIB, there = 0;
	char *p = rt_map(bytes);

	if (rt_under_qemu())
		rt_skip("resident memory is the emulator's");
	CHECK(p != NULL);
	pages_huge(p, bytes, false);
	CHECK_EQ(pages_count(p, bytes), 0);
	for (size_t i = 0; i < bytes; i += 7 * 4096, there += 4096)
		p[i] = 1;
	CHECK_EQ(pages_count(p, bytes), there);
	CHECK_EQ(pages_count(p, 4096), 4096);
	CHECK_EQ(pages_count(p + 4096, 6 * 4096), 0);
	rt_unmap(p, bytes);
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

/* Who gets the memory of a thread that ended without ash_thread_detach has its seat, and not its blocks. */
TEST(inner_figures_of_a_thread_that_vanished, 10)
{
	ash_release(ash_alloc(1));
	rt_thread_join(NOT_NULL(rt_thread_start(vanish, NULL)));
	rt_thread_join(NOT_NULL(rt_thread_start(look_after, NULL)));
}

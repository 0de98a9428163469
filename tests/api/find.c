/* SPDX-License-Identifier: MIT */
/* The kind of an address (ash_find), and the rows of ash_stats_class and ash_stats_threads. */
/* promises: ash_find, ash_stats_class, ash_stats_threads */
/* promises: ash_heap_of */
#include "support/blocks.h"
#include "support/heap_in.h"
#include "support/shared_heap.h"

/* An address in a block, which must be found. */
static void is_in(const char *p, size_t offset, size_t size)
{
	struct ash_block b;

	CHECK_EQ(ash_find(p + offset, &b), ASH_TAKEN);
	CHECK_EQ(b.place, ASH_TAKEN);
	CHECK(b.start == p);
	CHECK_EQ(b.size, size);
	CHECK_EQ(b.offset, offset);
}

static void everywhere_in(char *p)
{
	size_t size = ash_usable_size(p);

	is_in(p, 0, size);
	is_in(p, 1, size);
	is_in(p, size / 2, size);
	is_in(p, size - 1, size);
}

TEST(find_in_each_class, 10)
{
	struct ash_class row;
	struct ash_block b;
	unsigned rows = 0, others = 0;
	size_t blocks = 0;

	for (; ash_stats_class(rows, &row); rows++) {
		size_t size = row.size > 0 ? row.size : 5 * MIB;
		char *p, *q;

		if (row.size > 0 && ash_good_size(size) != size) {
			others++; /* such a block gets a slot of a larger class */
			continue;
		}
		p = ash_alloc(size);
		q = ash_alloc(size);
		everywhere_in(p);
		everywhere_in(q);
		CHECK(ash_find(p, &b) == ASH_TAKEN && b.row == rows);
		CHECK(b.heap == NULL && b.owner == 1);
		CHECK(ash_stats_class(rows, &row) == 1 && row.taken == 2 && row.slots >= 2);
		CHECK(row.bytes >= 2 * size && row.slabs >= 1 && row.pending == 0);
		blocks += row.taken;
		ash_release(p);
		/* Above 1 MiB, and perhaps where a slab is one slot, the memory is no slot any more. */
		if (row.size > 0 && row.size <= 32768) {
			CHECK_EQ(ash_find(p + size - 1, &b), ASH_FREE);
			CHECK(b.start == p && b.size == size && b.offset == size - 1 && b.owner == 0);
		} else {
			CHECK(ash_find(p, &b) < ASH_TAKEN);
		}
		everywhere_in(q);
	}
	CHECK(rows > 100 && row.size == 0);
	CHECK(others < rows / 4);
	CHECK_EQ(stats_now().blocks, rows - others);
	CHECK_EQ(blocks, 2 * (size_t)(rows - others));
	CHECK(!ash_stats_class(rows, &row) && !ash_stats_class(~0u, &row));
}

/* Where no block is: a wrong answer would not be seen in a live block. */
TEST(find_no_block, 10)
{
	static char object[64];
	struct ash_block b;
	char here, *span = ash_alloc(5 * MIB + 1), *p = ash_alloc(48), *begin;
	size_t size = ash_usable_size(span), i;
	const void *foreign[] = {NULL, &here, object, (void *)1, (void *)UINTPTR_MAX, rt_map(4096),
				 (void *)((uintptr_t)p ^ (uint64_t)1 << 47),
				 (void *)((uintptr_t)p ^ (uint64_t)1 << 63),
				 (void *)((uintptr_t)span ^ (uint64_t)0xffff8 << 44)};

	for (i = 0; i < sizeof foreign / sizeof *foreign; i++) {
		CHECK_EQ(ash_find(foreign[i], &b), ASH_FOREIGN);
		CHECK(b.start == NULL && b.size == 0 && b.offset == 0 && b.owner == 0 && b.thread == 0);
	}
	/* The rest of a span's last chunk, and of a slab of 32 KiB: before its 682 slots of 48 bytes. */
	CHECK_EQ(ash_find(span + size, &b), ASH_UNUSED);
	CHECK(b.start == span && b.size == size && b.offset == size && b.owner == 0);
	is_in(span, size - 1, size);
	begin = (char *)((uintptr_t)p & ~(uintptr_t)32767);
	CHECK_EQ(ash_find(begin + 31, &b), ASH_UNUSED);
	CHECK(b.start == NULL && b.size == 0 && b.offset == 0);
	CHECK(ash_find(begin + 32, &b) >= ASH_FREE && b.start == begin + 32 && b.size == 48);
	CHECK(ash_find(begin + 32767, &b) >= ASH_FREE && b.start == begin + 32768 - 48 && b.offset == 47);
	ash_release(span);
	CHECK(ash_find(span, &b) == ASH_UNUSED && b.start == NULL);
	CHECK(ash_find(span + 3 * MIB, &b) == ASH_UNUSED && b.start == NULL);
	ash_release(p);
}

struct meeting {
	struct rt_barrier here;
	char *block, *span;
	bool looks;
};

static void meet(void *argument)
{
	struct meeting *m = argument;
	struct ash_block b;

	m->block = ash_alloc(3000);
	m->span = ash_alloc(2 * MIB);
	if (m->looks)
		(void)ash_find(m->block, &b);
	rt_barrier_wait(&m->here);
	rt_barrier_wait(&m->here);
}

TEST(find_thread, 10)
{
	static struct meeting m = {.here = {.count = 2}, .looks = true};
	char *mine = ash_alloc(100);
	struct rt_thread *t = rt_thread_start(meet, &m);
	int tid = rt_thread_tid(t);
	struct ash_block b;

	rt_barrier_wait(&m.here);
	CHECK(ash_find(mine, &b) == ASH_TAKEN && b.thread > 0 && b.thread != tid);
	CHECK(ash_find(m.block + 5, &b) == ASH_TAKEN && b.thread == tid && b.offset == 5);
	CHECK(ash_find(m.span, &b) == ASH_TAKEN && b.thread == 0);
	rt_barrier_wait(&m.here);
	rt_thread_join(t);
	CHECK(ash_find(m.block, &b) == ASH_TAKEN && b.thread == 0);
	ash_release(m.block);
}

/* Blocks and spans of a heap: found there, also where the default heap has other records. */
static void find_in(ash_heap *h, bool shared)
{
	char *p = ash_heap_alloc(h, 100), *q = ash_heap_alloc(h, 5 * MIB);
	struct ash_block b;

	CHECK(p != NULL && q != NULL);
	is_in(p, 111, 112);
	is_in(q, 0, 5 * MIB);
	is_in(q, 5 * MIB - 1, 5 * MIB);
	CHECK(ash_find(p, &b) == ASH_TAKEN && b.heap == h && b.owner == 1);
	CHECK(shared || b.thread > 0);
	CHECK(ash_find(q + 3 * MIB, &b) == ASH_TAKEN && b.heap == h && b.owner == 1);
	ash_heap_release(h, p);
	CHECK(ash_find(p, &b) < ASH_TAKEN);
	ash_heap_release(h, q);
	CHECK(ash_find(q + 3 * MIB, &b) == ASH_UNUSED && b.start == NULL);
}

TEST_CALL(find_in_private_heap, 10, find_in(ash_heap_create(NULL), false));
TEST_CALL(find_in_shared_heap, 10, find_in(shared_heap(64 * MIB), true));

TEST(find_in_arena, 10)
{
	char *memory = ash_alloc(200000), *p, *q, *inner;
	ash_heap *h = ash_heap_create_in(memory, 200000), *in;
	struct ash_block b;

	p = ash_heap_alloc(h, 40);
	q = ash_heap_alloc(h, 5000);
	inner = ash_heap_alloc(h, 70000);
	in = ash_heap_create_in(inner, 70000);
	is_in(p, 47, 48);
	is_in(q, 5007, 5008);
	CHECK(ash_find(q + 100, &b) == ASH_TAKEN && b.heap == h);
	CHECK(ash_find(ash_heap_alloc(in, 100), &b) == ASH_TAKEN && b.heap == in && b.size == 112);
	ash_heap_release(h, q);
	CHECK(ash_find(q, &b) == ASH_UNUSED && b.start == NULL && b.heap == h);
	ash_heap_destroy(in);
	ash_heap_destroy(h);
	CHECK(ash_find(p, &b) == ASH_TAKEN && b.start == memory && b.heap == NULL);
}

/* ---- rows of threads ---- */

struct sums {
	struct ash_thread_stats all, mine, ended;
	const void *me;
	void *block; /* of a row's call */
	unsigned rows;
};

static void sum_up(void *context, const struct ash_thread_stats *figures)
{
	struct sums *to = context;

	to->rows++;
	to->all.slabs += figures->slabs;
	to->all.blocks += figures->blocks;
	to->all.block_bytes += figures->block_bytes;
	to->all.pending += figures->pending;
	if (figures->thread == to->me)
		to->mine = *figures;
	else if (figures->thread == NULL && figures->blocks != 0)
		to->ended = *figures;
	ash_release(to->block); /* another's call is allowed */
	to->block = NULL;
}

static struct sums sums_now(void)
{
	struct sums s = {.me = __builtin_thread_pointer(), .block = ash_alloc(5 * MIB)};
	struct ash_statistics st;

	ash_stats_threads(sum_up, &s);
	ash_stats(&st);
	CHECK_EQ(s.all.slabs, st.slabs);
	CHECK_EQ(s.all.blocks, st.blocks - (st.spans != 0));
	CHECK_EQ(s.all.block_bytes, st.block_bytes - (st.spans != 0 ? 3 * MIB : 0));
	CHECK_EQ(s.all.pending, st.pending);
	return s;
}

/* A child of fork does not have the threads of its parent. */
static void has_one_thread(UNUSED void *unused)
{
	struct sums s = sums_now();

	CHECK(s.rows == 2 && s.mine.blocks == 1 && s.ended.blocks == 2);
}

static struct leaver {
	void *blocks[2];
	struct rt_barrier has, may_leave;
} leaver = {.has.count = 2, .may_leave.count = 2};

static void leave_two(UNUSED void *unused)
{
	struct sums s;

	leaver.blocks[0] = ash_alloc(3000);
	leaver.blocks[1] = ash_alloc(3000);
	s = sums_now();
	CHECK(s.rows == 2 && s.mine.blocks == 2 && s.mine.block_bytes == 2 * 3072);
	rt_barrier_wait(&leaver.has);
	rt_barrier_wait(&leaver.may_leave);
}

TEST(find_figures_of_threads, 10)
{
	void *span = NOT_NULL(ash_alloc(3 * MIB)), *mine = ash_alloc(100);
	struct rt_thread *thread = NOT_NULL(rt_thread_start(leave_two, NULL));
	struct sums s;
	char text[256];

	rt_barrier_wait(&leaver.has);
	CHECK(rt_run_child(has_one_thread, NULL, text, sizeof text) == 0);
	rt_barrier_wait(&leaver.may_leave);
	rt_thread_join(thread);
	s = sums_now();
	CHECK(s.rows == 2 && s.mine.blocks == 1 && s.mine.block_bytes == 112);
	CHECK(s.mine.slabs >= 32 * KIB && s.mine.pending == 0);
	CHECK(s.ended.blocks == 2 && s.ended.block_bytes == 2 * 3072);
	ash_release(leaver.blocks[0]);
	ash_release(leaver.blocks[1]);
	ash_release(span);
	ash_release(mine);
	s = sums_now();
	CHECK_EQ(s.all.blocks, 0);
}

/* ---- the heap of an address at which there is no block; heap_aligned.c asks for blocks ---- */

/* The chunk behind a span was one of another span, and is free. */
TEST(heap_of_no_block, 10)
{
	enum { BLOCKS = 8 };
	ash_heap *own = ash_heap_create(NULL);
	char *p[BLOCKS];
	unsigned i, pairs = 0;

	for (i = 0; i < BLOCKS; i++)
		CHECK((p[i] = ash_heap_alloc(own, 4 * MIB)) != NULL);
	for (i = 1; i < BLOCKS; i++)
		if (p[i] == p[i - 1] + 4 * MIB) {
			pairs++;
			ash_heap_release(own, p[i]);
			CHECK(ash_heap_of(p[i] - 1) == own && ash_heap_of(p[i]) == NULL);
			break;
		}
	CHECK_EQ(pairs, 1);
	ash_heap_destroy(own);
}

/* SPDX-License-Identifier: MIT */
/* Heaps that the program made, in one process. */
#include "ashlar_heap.h"
#include "filled.h"
#include "rt.h"

static struct rt_random random;

static void use(ash_heap *h, unsigned rounds)
{
	enum { LIVE = 300 };
	static struct { unsigned char *p; size_t size; } block[LIVE];
	unsigned i, r;

	for (r = 0; r < rounds; r++) {
		unsigned at = (unsigned)(rt_next(&random) % LIVE);
		size_t size = rt_next(&random) % (r % 64 == 0 ? (size_t)3 << 20 : 5000);

		if (block[at].p != NULL)
			ash_heap_release(h, block[at].p);
		block[at].p = ash_heap_alloc(h, size);
		CHECK(block[at].p != NULL);
		block[at].size = size;
	}
	for (i = 0; i < LIVE; i++) {
		ash_heap_release(h, block[i].p);
		block[i].p = NULL;
	}
}

TEST(heap_basic, 20)
{
	ash_heap *h = ash_heap_create(NULL);

	CHECK(h != NULL);
	use(h, 20000);
	CHECK_EQ(ash_heap_check(h), 0);
	CHECK_EQ(ash_check(), 0);
	ash_heap_destroy(h);
}

TEST(heap_shared_basic, 20)
{
	ash_heap *h = ash_heap_create_shared((size_t)64 << 20, NULL);
	struct ash_stats st;

	CHECK(h != NULL);
	use(h, 20000);
	CHECK_EQ(ash_heap_check(h), 0);
	ash_heap_stats(h, &st);
	CHECK_EQ(st.blocks, 0);
	ash_heap_destroy(h);
}

TEST(heap_shared_child, 20)
{
	ash_heap *h = ash_heap_create_shared((size_t)64 << 20, NULL);
	unsigned i;
	long pid[4];

	CHECK(h != NULL);
	use(h, 2000);
	for (i = 0; i < 4; i++) {
		pid[i] = rt_fork();
		if (pid[i] == 0) {
			use(h, 50000);
			CHECK_EQ(ash_heap_check(h), 0);
			rt_exit(0);
		}
	}
	use(h, 50000);
	for (i = 0; i < 4; i++)
		CHECK_EQ(rt_wait(pid[i]), 0);
	CHECK_EQ(ash_heap_recover(h), 4);
	CHECK_EQ(ash_heap_check(h), 0);
}

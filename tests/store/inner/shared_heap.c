/* SPDX-License-Identifier: MIT */
/* Heaps shared by processes: zeroing, exact sums, the walk. */
#include "support/blocks.h"
#include "support/pattern.h"
#include "support/stamp.h"

#include "syscall.h"

enum { RDWR_CREATE = 0102, PROCESSES = 4, HELD = 100 };

/* ---- zero means zero ---- */

static void dirty_and_zalloc(ash_heap *h, size_t size, unsigned n)
{
	void *p[64];
	unsigned i;

	for (i = 0; i < n; i++) {
		p[i] = NOT_NULL(ash_heap_alloc(h, size));
		memset(p[i], 0xa5, size);
	}
	for (i = 0; i < n; i++)
		ash_heap_release(h, p[i]);
	if (n % 2 == 0)
		(void)ash_heap_trim(h, 0);
	for (i = 0; i < n; i++) {
		p[i] = NOT_NULL(ash_heap_zalloc(h, 1, size));
		is_zero(p[i], size);
		memset(p[i], 0x5a, size);
	}
	for (i = 0; i < n; i++)
		ash_heap_release(h, p[i]);
}

static void zeroing(ash_heap *h)
{
	static const size_t sizes[] = {8, 48, 1000, 5000, 40000, 300000, 1 << 20, 3 << 20, 9 << 20};
	unsigned i, round;

	CHECK(h != NULL);
	for (round = 0; round < 3; round++)
		for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
			unsigned n = sizes[i] > 100000 ? 4 : 60; /* an odd number is not trimmed */

			dirty_and_zalloc(h, sizes[i], n + round % 2);
		}
	CHECK_EQ(ash_heap_check(h), 0);
	ash_heap_destroy(h);
}

/* Little may stay: nearly every release purges. */
static const struct ash_heap_options eager = {.retain = (size_t)1 << 20};

TEST(shared_zero_anonymous, 60)
{
	zeroing(ash_heap_create_shared((size_t)96 << 20, NULL));
	zeroing(ash_heap_create_shared((size_t)96 << 20, &eager));
}

TEST_CALL(shared_zero_memfd, 60, zeroing(ash_heap_create_file((int)arch_memfd_create("zero", 0), (size_t)96 << 20, &eager)));

TEST(shared_zero_file, 60)
{
	char path[64];
	long fd;

	rt_format(path, sizeof path, "/tmp/ashlar-zero-%lu", rt_now());
	fd = arch_open(path, RDWR_CREATE, 0600);
	CHECK(fd >= 0);
	arch_unlink(path);
	zeroing(ash_heap_create_file((int)fd, (size_t)96 << 20, &eager));
}

/* ---- exact sums ---- */

static void operations(ash_heap *h, unsigned seed, size_t n)
{
	static uint64_t held[HELD];
	struct rt_random r;
	size_t i;

	rt_seed(&r, rt_test_seed() + seed);
	for (i = 0; i < n; i++) {
		uint64_t *slot = &held[rt_below(&r, HELD)];

		if (*slot == 0) {
			size_t size = 8 + rt_below(&r, 2000);

			*slot = stamp_set(ash_heap_alloc(h, size), size, rt_next(&r));
		} else {
			stamp_release(*slot);
			*slot = 0;
		}
	}
	for (i = 0; i < seed; i++) /* so many stay, of 64 bytes */
		CHECK(ash_heap_alloc(h, 64) != NULL);
	for (i = 0; i < HELD; i++)
		if (held[i] != 0)
			stamp_release(held[i]);
}

static struct ash_heap_owner owners[PROCESSES + 1];
static size_t owned[PROCESSES + 1];

static int visit(UNUSED void *context, UNUSED void *p, size_t size,
		 const struct ash_heap_owner *owner)
{
	unsigned i;

	CHECK_EQ(size, 64);
	for (i = 0; owners[i].id != 0 && owners[i].id != owner->id; i++)
		;
	CHECK(i <= PROCESSES);
	owners[i] = *owner;
	owned[i]++;
	return 0;
}

TEST(shared_sums, 120)
{
	size_t n = rt_getenv("STEPS_SOAK") != NULL ? 1000000 : 100000, left = PROCESSES * (PROCESSES + 1) / 2;
	ash_heap *h = NOT_NULL(ash_heap_create_shared((size_t)128 << 20, NULL));
	long pid[PROCESSES + 1];
	struct ash_statistics st;
	unsigned w, i;

	for (w = 1; w <= PROCESSES; w++) {
		pid[w] = rt_fork();
		if (pid[w] == 0) {
			operations(h, w, n / (rt_under_qemu() ? 10 : 1));
			rt_exit(0);
		}
	}
	for (w = 1; w <= PROCESSES; w++)
		CHECK_EQ(rt_wait(pid[w]), 0);
	(void)ash_heap_recover(h);
	CHECK_EQ(ash_heap_check(h), 0);
	ash_heap_stats(h, &st);
	CHECK_EQ(st.blocks, left);
	CHECK_EQ(st.block_bytes, left * 64);
	CHECK_EQ(ash_heap_walk(h, visit, NULL), 0);
	for (i = 0; i < PROCESSES; i++) {
		for (w = 1; w <= PROCESSES && pid[w] != owners[i].pid; w++)
			;
		CHECK_EQ(owned[i], w);
		CHECK(!owners[i].live);
		CHECK_EQ(ash_heap_release_owner(h, owners[i].id), w);
	}
	CHECK_EQ(ash_heap_release_owner(h, 0), 0);
	ash_heap_stats(h, &st);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(st.block_bytes, 0);
}

/* SPDX-License-Identifier: MIT */
/* Parts that libashlar-small.a alone has: pools without owners, no thread-local storage. */
#include "cpu.h"
#include "small/large.h"
#include "small/pool.h"
#include "support/blocks.h"
#include "support/misuse.h"
#include "support/resident.h"
#include "syscall.h"

#define NO_OWNERS "in libashlar-small.a no thread owns memory"
#define MAPPINGS  "libashlar-small.a has a mapping for each large block, wherever the kernel places it"

const struct rt_left_out rt_left_out[] = {
	{"large_zeroed_again", MAPPINGS},
	{"large_moves_without_faults", MAPPINGS},
	{"align_reuses", MAPPINGS},
	{"aligned_shrinks_beside_another", MAPPINGS},
	{"expand_within_the_slot", MAPPINGS},
	{"expand_span", MAPPINGS},
	{"resize_span_moves", MAPPINGS},
	{"misuse_other_thread_then_owner", NO_OWNERS},
	{"misuse_other_thread_then_another", NO_OWNERS},
	{"threads_share_no_line", NO_OWNERS},
	{NULL, NULL},
};

const char misuse_forgets = 1;

/* The faults of its own line; it does not tell how far a foreign pointer is from a block. */
TEST(small_misuse, 10)
{
	char *p = block_among(100), *middle = block_among(5000), *large = ash_alloc(5 * MIB);
	struct bad bad;
	int elsewhere;

	bad_in(&bad, p, 16, "interior pointer", 112);
	misuse_expect("release", ash_release, &bad);
	bad_in(&bad, p, 8, "misaligned pointer", 112);
	misuse_expect("release", ash_release, &bad);
	bad_in(&bad, middle, 16, "interior pointer", 5120);
	misuse_expect("release", ash_release, &bad);
	bad_in(&bad, middle, 1, "misaligned pointer", 5120);
	misuse_expect("resize", use_resize, &bad);
	bad_in(&bad, large, 4096, "interior pointer", 5 * MIB);
	misuse_expect("release", ash_release, &bad);
	bad_in(&bad, large, 4 * MIB, "interior pointer", 5 * MIB);
	misuse_expect("usable_size", use_usable_size, &bad);
	bad = (struct bad){.p = large + 5 * MIB, .fault = FOREIGN};
	misuse_expect("release", ash_release, &bad);
	bad = (struct bad){.p = &elsewhere, .fault = FOREIGN};
	misuse_expect("release", ash_release, &bad);
	bad = (struct bad){.p = (void *)UINTPTR_MAX, .fault = FOREIGN}; /* NOLINT: an address */
	misuse_expect("release", ash_release, &bad);
	ash_release(p);
	bad_gone(&bad, p, "double free", 112);
	misuse_expect("release", ash_release, &bad);
	ash_release(large);
	bad = (struct bad){.p = large, .fault = RETURNED};
	misuse_expect("release", ash_release, &bad);
	CHECK_EQ(ash_check(), 0);
}

/* Of a pool that went back nothing is known but that. */
TEST(small_misuse_of_a_pool_that_is_gone, 10)
{
	enum { BLOCKS = 5000 };
	static void *p[BLOCKS];
	struct bad bad = {.fault = RETURNED};
	size_t i;

	alloc_each(p, BLOCKS, 1000);
	bad.p = p[0];
	release_each(p, BLOCKS);
	CHECK_EQ(place_at(bad.p), PLACE_GONE);
	misuse_expect("release", ash_release, &bad);
	for (i = 0; i < BLOCKS; i++)
		CHECK((p[i] = ash_alloc(1000)) != NULL);
	CHECK_EQ(ash_check(), 0);
	release_each(p, BLOCKS);
}

/* Under a limit a request that finds no room gets the pools that are free as a whole. */
TEST(small_under_a_limit, 20)
{
	enum { MOST = 60000 };
	static unsigned char *p[MOST];
	size_t n = 0, i;

	if (rt_under_qemu() || !rt_limit_address_space(rt_address_space() + 64 * MIB))
		rt_skip("a limit of addresses has no effect under QEMU");
	for (; n < MOST && (p[n] = ash_alloc(20000)) != NULL; n++)
		memset(p[n], (int)n + 1, 20000);
	CHECK(n > 1000 && n < MOST);
	for (i = 1; i < n; i++)
		ash_release(p[i]);
	CHECK(ash_alloc(64 * MIB) == NULL);
	CHECK(p[0][0] == 1 && p[0][19999] == 1);
	p[1] = NOT_NULL(ash_alloc(44 * MIB));
	CHECK(p[1][0] == 0 && p[1][44 * MIB - 1] == 0);
	CHECK_EQ(ash_check(), 0);
	ash_release(p[1]);
	for (n = 1; n < MOST && (p[n] = ash_alloc(5 * MIB)) != NULL; n++)
		memset(p[n], (int)n + 1, 5 * MIB);
	CHECK(n > 5 && n < 40);
	release_each((void **)p, n);
	CHECK_EQ(ash_check(), 0);
}

/* A slot stays as it is; a mapping grows where the kernel has left room behind it, and gives its end back. */
TEST(small_expand, 10)
{
	char *p, *way[64];
	size_t size, usable, bytes, i;

	for (size = 1; size <= MIB; size = size * 9 / 8 + 7) {
		p = NOT_NULL(ash_alloc(size));
		usable = ash_usable_size(p);
		memset(p, 3, size);
		CHECK_EQ(ash_expand(p, usable), usable);
		CHECK_EQ(ash_expand(p, 0), usable);
		bytes = ash_expand(p, 3 * MIB);
		CHECK(bytes == 0 || (size > 512000 && bytes >= 3 * MIB));
		CHECK_EQ(ash_usable_size(p), bytes != 0 ? bytes : usable);
		CHECK(p[0] == 3 && p[size - 1] == 3);
		ash_release(p);
	}
	p = NOT_NULL(ash_alloc(12 * MIB));
	memset(p, 5, 12 * MIB);
	CHECK(ash_expand(p, 4 * MIB) >= 4 * MIB && ash_usable_size(p) < 5 * MIB);
	for (i = 0; i < 64; i++) {
		way[i] = NOT_NULL(ash_alloc(3 * MIB));
		CHECK(way[i] >= p + ash_usable_size(p) || way[i] + 3 * MIB <= p);
	}
	bytes = ash_expand(p, 12 * MIB);
	CHECK(bytes == 0 || bytes >= 12 * MIB);
	for (i = 0; i < 64; i++)
		CHECK(way[i] >= p + ash_usable_size(p) || way[i] + 3 * MIB <= p);
	CHECK(p[0] == 5 && p[4 * MIB - 1] == 5);
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
	release_each((void **)way, 64);
	CHECK_EQ(ash_check(), 0);
}

/* A growing mapping keeps its bytes, whether it moves or not, and meets no other block. */
TEST(small_resize_grows, 20)
{
	enum { STEPS = 8 };
	char *p = NOT_NULL(ash_alloc(MIB + 1)), *way[STEPS];
	size_t size = MIB + 1, larger, i, at;

	memset(p, 1, size);
	for (i = 0; i < STEPS; i++) {
		larger = i % 2 != 0 ? (size * 3 / 2 | 4095) + 1 : size * 3 / 2 + 4097;
		way[i] = NOT_NULL(ash_alloc(2 * MIB));
		memset(way[i], 2, 2 * MIB);
		p = NOT_NULL(ash_resize(p, larger));
		for (at = 0; at < size; at += 509)
			CHECK_EQ(p[at], 1);
		CHECK_EQ(p[size - 1], 1);
		memset(p, 1, larger);
		size = larger;
		CHECK_EQ(ash_check(), 0);
	}
	for (i = 0; i < STEPS; i++) {
		for (at = 0; at < 2 * MIB; at += 509)
			CHECK_EQ(way[i][at], 2);
		ash_release(way[i]);
	}
	ash_release(p);
	CHECK_EQ(ash_check(), 0);
}

static void count_row(void *rows, const struct ash_thread_stats *figures)
{
	*(size_t *)rows += figures->thread == NULL && figures->blocks != 0;
}

/* No word of the library is thread-local: each call works where no such storage was set up. */
TEST(small_needs_no_thread_storage, 10)
{
	void *storage = (void *)(uintptr_t)cpu_thread_pointer();
	struct ash_statistics st;
	struct ash_class row;
	struct ash_block found;
	char *p, *q, *large, *aligned;
	size_t rows = 0;
	int broken;

	(void)arch_set_thread_pointer(NULL);
	p = ash_alloc(100);
	q = ash_zalloc(1, 100000);
	large = ash_alloc(3000000);
	aligned = ash_aligned_zalloc(256, 1000);
	p = ash_resize(p, ash_good_size(3000));
	(void)ash_expand(large, 5000000);
	aligned = ash_aligned_resize(aligned, 256, 3000);
	(void)ash_find(p, &found);
	(void)ash_find(&storage, &found);
	ash_stats(&st);
	(void)ash_stats_class(5, &row);
	ash_stats_threads(count_row, &rows);
	broken = ash_check();
	ash_release(large);
	ash_release_sized(q, 100000);
	ash_release_aligned_sized(aligned, 256, 3000);
	ash_release(p);
	(void)ash_trim_step(1);
	(void)ash_trim(0);
	ash_thread_detach();
	CHECK_EQ(arch_set_thread_pointer(storage), 0);
	CHECK(p != NULL && q != NULL && large != NULL && aligned != NULL && broken == 0 && rows == 1 && ash_check() == 0);
}

/* The memory of a peak goes with the releases, whatever their order, without a call or a thread. */
static void peak(size_t size, size_t blocks, bool scattered)
{
	static void *p[64000];
	size_t before = rt_anonymous(), i, step = 7919; /* a prime */

	for (i = 0; i < blocks; i++) {
		p[i] = NOT_NULL(ash_alloc(size));
		memset(p[i], 1, size);
	}
	CHECK(!figures() || rt_anonymous() - before > blocks * size / 2);
	for (i = 0; i < blocks; i++)
		ash_release(p[scattered ? i * step % blocks : i]);
	rt_print("     %zu KiB stay of %zu of %zu bytes\n", (rt_anonymous() - before) / 1024, blocks, size);
	/* The records of the pools, 40 KiB for each that small blocks had, and memory that the current pools retain. */
	CHECK(!figures() || rt_anonymous() < before + POOL_LEVELS * POOL_KEEP + blocks * size / 32);
	CHECK(stats_now().dirty <= POOL_LEVELS * POOL_KEEP);
	CHECK_EQ(stats_now().blocks, 0);
	CHECK_EQ(ash_check(), 0);
}

TEST(small_gives_back_after_a_peak, 20)
{
	(void)ash_trim(0); /* the runtime's own pages are there */
	peak(1000, 64000, false);
	peak(1000, 64000, true);
	peak(20000, 3000, true);
	peak(300000, 200, true);
	peak(3000000, 20, true);
	CHECK_EQ(ash_trim_step(1), 0); /* all at once */
	CHECK_EQ(stats_now().dirty, 0);
}

/* Whole pages between live blocks go by ash_trim. */
TEST(small_trims_holes, 20)
{
	enum { BLOCKS = 40000 };
	static unsigned char *p[BLOCKS];
	size_t before, after, i;

	for (i = 0; i < BLOCKS; i++)
		memset(p[i] = NOT_NULL(ash_alloc(1000)), (int)i, 1000);
	for (i = 0; i < BLOCKS; i++)
		if (i % 16 != 0)
			ash_release(p[i]);
	before = rt_anonymous();
	CHECK(ash_trim(0) > 20 * MIB);
	after = rt_anonymous();
	rt_print("     %zu MiB of %zu\n", after / MIB, before / MIB);
	CHECK(!figures() || before - after > 20 * MIB);
	CHECK(ash_trim(0) < MIB);
	for (i = 0; i < BLOCKS; i += 16) {
		CHECK(p[i][0] == (unsigned char)i && p[i][999] == (unsigned char)i);
		ash_release(p[i]);
	}
	CHECK_EQ(ash_check(), 0);
	CHECK_EQ(stats_now().blocks, 0);
}

/* SPDX-License-Identifier: MIT */
/* What libashlar-small.a has of its own: a heap without owners, thread-local storage, and their tests. */
#include "cpu.h"
#include "slab/slab.h"
#include "support/blocks.h"
#include "support/misuse.h"
#include "syscall.h"

#define NO_OWNERS "in libashlar-small.a no thread owns slabs"
#define MOVES	  "libashlar-small.a copies blocks that move"

const struct rt_left_out rt_left_out[] = {
	{"aligned_moves_without_faults", MOVES},
	{"large_moves_without_faults", MOVES},
	{"misuse_other_thread_then_owner", NO_OWNERS},
	{"misuse_other_thread_then_another", NO_OWNERS},
	{"threads_share_no_line", NO_OWNERS},
	{NULL, NULL},
};

TEST(small_has_no_owners, 10)
{
	char *p = ash_alloc(100), *q = ash_zalloc(3, 1000), *big = ash_alloc(5 * MIB);
	struct slab *s;

	CHECK_EQ(stats_now().owners, 0);
	CHECK(slab_find(map_find(p), p, &s) && slab_is_unowned(s));
	CHECK(slab_find(map_find(q), q, &s) && slab_is_unowned(s));
	CHECK(ash_resize(p, 5000) != NULL);
	ash_thread_detach();
	ash_release(q);
	ash_release(big);
	CHECK_EQ(ash_check(), 0);
}

/* Of each class a slab stays, empty, until a trim, whose walk sees those of each chunk, whatever chunks are free. */
TEST(small_trims_all_chunks, 10)
{
	enum { BLOCKS = 900, EACH = 60 }; /* a chunk has 64 units */
	static void *block[BLOCKS];

	for (size_t i = 0; i < BLOCKS; i++)
		block[i] = NOT_NULL(ash_alloc(i % EACH == 0 ? 100 + 2 * i : 20000));
	release_each(block, BLOCKS);
	CHECK(stats_now().slabs >= BLOCKS / EACH / 2 * UNIT_SIZE);
	(void)ash_trim(0);
	CHECK_EQ(stats_now().slabs, 0);
}

/* The faults of its own line; it does not tell how far a foreign pointer is from a block. */
TEST(small_misuse, 10)
{
	char *p = block_among(100);
	struct bad bad;
	int elsewhere;

	bad_in(&bad, p, 16, "interior pointer", 112);
	misuse_expect("release", ash_release, &bad);
	bad = (struct bad){.p = &elsewhere, .fault = FOREIGN};
	misuse_expect("release", ash_release, &bad);
	ash_release(p);
	bad_in(&bad, p, 0, "double free", 112);
	misuse_expect("release", ash_release, &bad);
	CHECK_EQ(ash_check(), 0);
}

/* Under a limit a request that finds no room gets the regions that are free as a whole. */
TEST(small_under_a_limit, 20)
{
	enum { MOST = 40 };
	static unsigned char *p[MOST];
	size_t n = 0, i, kept;

	if (rt_under_qemu() || !rt_limit_address_space(rt_address_space() + 64 * MIB))
		rt_skip("a limit of addresses has no effect under QEMU");
	for (; n < MOST && (p[n] = ash_alloc(5 * MIB)) != NULL; n++)
		memset(p[n], (int)n + 1, 5 * MIB);
	CHECK(n > 5 && n < MOST);
	kept = n / 2;
	for (i = 0; i < n; i++)
		if (i != kept)
			ash_release(p[i]);
	CHECK(ash_alloc(64 * MIB) == NULL);
	CHECK(p[kept][0] == kept + 1 && p[kept][5 * MIB - 1] == kept + 1);
	CHECK_EQ(ash_check(), 0);
	ash_release(p[kept]);
	CHECK(ash_alloc(64 * MIB) == NULL);
	CHECK(stats_now().reserved == 0 && map_find(p[kept]) == NULL);
	p[0] = NOT_NULL(ash_alloc(44 * MIB));
	CHECK(p[0][0] == 0 && p[0][44 * MIB - 1] == 0);
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

/* What is retained goes, although no call is slow: each counts. */
TEST(small_gives_back_after_a_peak, 20)
{
	enum { BLOCKS = 64000 };
	static void *p[BLOCKS];
	struct ash_statistics st;
	size_t i;

	for (i = 0; i < BLOCKS; i++)
		CHECK((p[i] = ash_alloc(1000)) != NULL);
	release_each(p, BLOCKS);
	for (i = 0; i < 2000; i++)
		ash_release(ash_alloc(1000));
	ash_stats(&st);
	CHECK(st.dirty <= 10 * MIB && st.slabs <= 64 * KIB);
	CHECK_EQ(ash_trim_step(1), 0); /* all at once */
	CHECK_EQ(stats_now().dirty, 0);
	CHECK_EQ(stats_now().slabs, 0);
	CHECK_EQ(stats_now().reserved, 0);
}

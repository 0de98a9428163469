/* SPDX-License-Identifier: MIT */
/* Samples (ashlar_sample.h): which blocks are told of, and that each release of one is. */
/* promises: ash_on_sample, ash_on_sample_release, ash_sample_every */
#include "sample/sample.h"
#include "support/blocks.h"

enum { SIGALRM = 14 };

/* The last call of a hook in this thread, and the number of calls in all threads. */
static _Thread_local struct {
	char *p;
	size_t size;
	char *gone;
	bool allocates, inside;
} told;
static size_t takes, releases;
void (*sample_also)(void *p, size_t size);
void (*sample_also_gone)(void *p);

void ash_on_sample(void *p, size_t size)
{
	told.p = p;
	told.size = size;
	__atomic_fetch_add(&takes, 1, __ATOMIC_RELAXED);
	if (sample_also != NULL)
		sample_also(p, size);
	if (told.allocates) {
		void *mine = ash_alloc(size % 2000), *large = ash_alloc(100000);

		CHECK(told.p == p && mine != NULL && large != NULL);
		told.inside = true; /* blocks above 32 KiB are told of, samples or not */
		ash_release(large);
		ash_release(mine);
		told.inside = false;
	}
}

void ash_on_sample_release(void *p)
{
	if (sample_also_gone != NULL)
		sample_also_gone(p);
	if (told.inside)
		return;
	told.gone = p;
	__atomic_fetch_add(&releases, 1, __ATOMIC_RELAXED);
}

/* With a distance of 1 each block of so many bytes is a sample: 64 * ln 2 is the longest gap. */
enum { SURE = 48 };

static char *expect_sample(void *p)
{
	CHECK(p != NULL && told.p == p);
	CHECK_EQ(told.size, ash_usable_size(p));
	told.p = NULL;
	return p;
}

static void release_sample(void *p)
{
	told.gone = NULL;
	ash_release(p);
	CHECK(told.gone == p);
}

static size_t random_size(struct rt_random *r)
{
	return SURE + rt_below(r, (size_t)16 << rt_below(r, 18));
}

/* Every call that allocates, of all kinds of blocks. */
static void *allocate(struct rt_random *r)
{
	size_t size = random_size(r);
	char *p;

	switch (rt_below(r, 4)) {
	case 0:
		p = ash_zalloc(1, size);
		for (size_t i = 0; i < size; i += 1 + i / 2)
			CHECK(p[i] == 0);
		break;
	case 1:
		p = ash_aligned_alloc((size_t)16 << rt_below(r, 18), size);
		break;
	default:
		p = ash_alloc(size);
	}
	expect_sample(p);
	memset(p, 1, size < 5000 ? size : 5000);
	return p;
}

static void resize(struct rt_random *r, void **p)
{
	size_t have = ash_usable_size(*p), size = random_size(r);
	void *old = *p;

	told.gone = NULL;
	*p = NOT_NULL(ash_resize(old, size));
	/* A span that has just the pages stays as it is, a sample too. */
	if (*p != old || (have > MIB && ash_usable_size(*p) != have)) {
		CHECK(told.gone == old);
		expect_sample(*p);
	} else {
		CHECK(told.gone == NULL && told.p == NULL);
	}
}

enum { LIVE = 100, STEPS = 3000 };

static void work(void *seed)
{
	void *p[LIVE] = {NULL};
	struct rt_random r;

	rt_seed(&r, (uintptr_t)seed);
	ash_sample_every(1);
	for (unsigned i = 0; i < STEPS; i++) {
		void **at = &p[rt_below(&r, LIVE)];

		if (*at == NULL) {
			*at = allocate(&r);
		} else if (rt_below(&r, 3) == 0) {
			resize(&r, at);
		} else {
			release_sample(*at);
			*at = NULL;
		}
	}
	for (unsigned i = 0; i < LIVE; i++)
		if (p[i] != NULL)
			release_sample(p[i]);
}

/* The first slot of a group is a sample as others are; next to samples, blocks come from the thread's own slabs. */
TEST(sample_at_the_ends_of_groups, 10)
{
	static void *own[300], *large[3];
	const size_t n = sizeof own / sizeof *own;

	ash_sample_every(0);
	alloc_each(own, n, SURE);
	release_each(own, n); /* groups that have slots */
	for (size_t i = 0; i < n; i++) {
		ash_sample_every(0);
		own[i] = NOT_NULL(ash_alloc(SURE));
		ash_sample_every(1);
		release_sample(expect_sample(ash_alloc(SURE)));
	}
	ash_sample_every(0);
	alloc_each(large, 3, 32 * KIB);
	told.gone = NULL;
	release_each(own, n);
	release_each(large, 3);
	CHECK(told.gone == NULL); /* nor are those of 32 KiB told of */
}

static void until_a_sample(void *bytes)
{
	ash_sample_every(4096);
	for (; told.p == NULL; *(size_t *)bytes += 8)
		ash_release(ash_alloc(8));
}

/* Threads have random numbers of their own. */
TEST(sample_threads_differ, 10)
{
	size_t bytes[2] = {0};

	for (unsigned i = 0; i < 2; i++)
		rt_in_thread(until_a_sample, &bytes[i]);
	CHECK(bytes[0] != bytes[1]);
}

TEST(sample_each_block, 20)
{
	work((void *)1);
	CHECK(stats_now().blocks == 0 && ash_check() == 0);
	CHECK(takes >= STEPS / 3 && takes == releases);
}

TEST(sample_hook_allocates, 20)
{
	size_t before;

	told.allocates = true;
	work((void *)2);
	before = takes;
	told.allocates = false;
	work((void *)2);
	CHECK(takes == 2 * before); /* nothing that the hook allocated */
}

TEST(sample_of_threads, 20)
{
	struct rt_thread *t[4];

	for (size_t i = 0; i < 4; i++)
		CHECK((t[i] = rt_thread_start(work, (void *)(i + 3))) != NULL);
	rt_threads_join(t, 4);
	CHECK(takes == releases && ash_check() == 0);
}

static void *passed[LIVE];

static void release_passed(UNUSED void *unused)
{
	for (unsigned i = 0; i < LIVE; i++)
		release_sample(passed[i]);
}

TEST(sample_released_by_another_thread, 10)
{
	struct rt_random r;

	rt_seed(&r, 7);
	ash_sample_every(1);
	for (unsigned i = 0; i < LIVE; i++)
		passed[i] = allocate(&r);
	rt_in_thread(release_passed, NULL);
	CHECK(takes == LIVE && releases == LIVE && ash_check() == 0);
}

TEST(sample_none, 10)
{
	ash_sample_every(0);
	for (unsigned i = 0; i < 10000; i++)
		ash_release(ash_alloc(i));
	CHECK_EQ(takes, 0);
	ash_sample_every(1);
	ash_release(ash_alloc(1000));
	CHECK_EQ(takes, 1);
}

static size_t handled;

static void handler(UNUSED int number, UNUSED void *info, UNUSED void *context)
{
	static void *p;

	ash_release(p);
	p = ash_alloc(100 + handled % 3 * 50000);
	handled++;
}

TEST(sample_in_handlers, 20)
{
	void *p[LIVE] = {NULL};
	struct rt_random r;

	rt_seed(&r, 8);
	ash_sample_every(100);
	rt_signal(SIGALRM, handler);
	rt_timer(200);
	for (unsigned i = 0; i < 20000 || handled < 50; i++) {
		void **at = &p[rt_below(&r, LIVE)];

		*at = *at == NULL ? ash_alloc(rt_below(&r, 3000)) : ash_resize(*at, rt_below(&r, 3000));
	}
	rt_timer(0);
	release_each(p, LIVE);
	CHECK_EQ(ash_check(), 0);
	CHECK(takes > 1000 && releases > 1000);
}

/* A child goes on with its copy. */
TEST(sample_in_a_child, 10)
{
	void *p;

	ash_sample_every(1);
	p = ash_alloc(100);
	IN_CHILD {
		release_sample(p);
		work((void *)9);
		CHECK(takes == releases && ash_check() == 0);
	}
	release_sample(p);
}

/* The largest slot is told of once; a span that moves, by its new address. */
TEST(sample_of_the_largest_blocks, 20)
{
	char *p, *q, *moved;

	ash_sample_every(1);
	p = expect_sample(ash_alloc(MIB));
	CHECK_EQ(takes, 1);
	release_sample(p);
	p = ash_alloc(3 * MIB);
	q = expect_sample(ash_alloc(3 * MIB));
	moved = ash_resize(p, 40 * MIB);
	CHECK(told.gone == p && moved != p);
	expect_sample(moved);
	release_sample(moved);
	release_sample(q);
	CHECK_EQ(takes, releases);
}

/* A refused request is no sample, and ends no sample. */
TEST(sample_of_nothing, 10)
{
	char *p;

	ash_sample_every(1);
	CHECK(ash_alloc(PTRDIFF_MAX) == NULL && ash_zalloc(1, PTRDIFF_MAX) == NULL);
	CHECK(ash_aligned_alloc((size_t)4 << 20, PTRDIFF_MAX) == NULL && ash_alloc(SIZE_MAX) == NULL);
	CHECK_EQ(takes, 0);
	p = expect_sample(ash_alloc(3 * MIB));
	CHECK_EQ(ash_expand(p, (size_t)1 << 46), 0);
	CHECK(told.gone == p);
	expect_sample(p);
	CHECK(ash_aligned_resize(p, 64, (size_t)1 << 46) == NULL && told.gone == p);
	expect_sample(p);
	CHECK(ash_resize(p, (size_t)1 << 46) == NULL && told.gone == p);
	expect_sample(p);
	CHECK_EQ(ash_usable_size(p), 3 * MIB);
	release_sample(p);
}

/* A sample is known by address and size: each call that changes a span tells; a slot does not grow in place. */
TEST(sample_that_is_resized, 20)
{
	char *p, *q;

	ash_sample_every(1);
	p = expect_sample(ash_alloc(3 * MIB));
	q = ash_aligned_resize(p, 64, 5 * MIB);
	CHECK(told.gone == p);
	expect_sample(q);
	told.gone = NULL;
	CHECK(ash_expand(q, 4 * MIB) >= 4 * MIB && told.gone == q);
	expect_sample(q);
	release_sample(q);
	p = expect_sample(ash_alloc(MIB / 8));
	CHECK_EQ(ash_expand(p, MIB / 4), 0);
	release_sample(p);
}

/* While all memory is locked, other products have several slots in a slab of such a size: a sample has its slab alone. */
TEST(sample_of_locked_memory, 10)
{
	enum { MANY = 40, CURRENT = 1, FUTURE = 2 };
	extern long arch_mlockall(long flags);
	char *p[MANY];

	if (rt_under_qemu() || arch_mlockall(CURRENT | FUTURE) != 0)
		rt_skip("this process may not lock its memory");
	ash_sample_every(1);
	for (size_t i = 0; i < MANY; i++)
		p[i] = expect_sample(ash_alloc(40000));
	for (size_t i = 0; i < MANY; i++)
		release_sample(p[i]);
	CHECK_EQ(takes, releases);
}

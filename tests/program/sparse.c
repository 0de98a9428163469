/* SPDX-License-Identifier: MIT */
/*
 * Large blocks of which little is written, and zeroed ones: how many system calls and page faults they
 * take, that no call asks which pages are resident, and that zeroed blocks are zero.
 */
/* promises: ash_zalloc, ash_heap_zalloc */
#include "ashlar_heap.h"
#include "backend/retain.h"
#include "pages.h"
#include "program/audit.h"
#include "support/blocks.h"
#include "support/wrap.h"

static size_t calls;
static bool page_locked; /* advice for a single page is refused */

#define COUNT(call) WRAP_CALL(call, calls++)
COUNT(mmap)
COUNT(munmap)
COUNT(mremap)

WRAP(long, arch_madvise, (void *p, size_t bytes, long advice))
{
	calls++;
	return page_locked && bytes == PAGE_SIZE ? -22 : __real_arch_madvise(p, bytes, advice);
}

WRAP(long, arch_mincore, (UNUSED void *p, UNUSED size_t bytes, UNUSED unsigned char *there))
{
	rt_fail(__FILE__, __LINE__, "asked what is resident");
}

WRAP(bool, pages_are_locked, (void))
{
	return false;
}

enum { ROUNDS = 200, WARM = 40, LIVE = 8 };

/* By the rounds after the warm ones. */
struct cost {
	size_t calls, faults;
};

/* A block is released and another one taken, each round; of it so many bytes are written: SIZE_MAX: all pages. */
static struct cost cost_of(size_t least, size_t range, size_t live, size_t bytes, bool zero)
{
	static unsigned char *p[LIVE];
	struct cost before = {0, 0}, cost;
	struct rt_random r;

	rt_seed(&r, rt_test_seed());
	for (size_t i = 0; i < WARM + ROUNDS; i++) {
		size_t size = least + (range != 0 ? rt_below(&r, range) : 0), k = rt_below(&r, live);

		if (i == WARM)
			before = (struct cost){calls, rt_faults()};
		ash_release(p[k]);
		p[k] = zero ? ash_zalloc(1, size) : ash_alloc(size);
		CHECK(p[k] != NULL);
		for (size_t n = 0; n < bytes && n * 4096 < size; n++)
			p[k][bytes == SIZE_MAX || n == 0 ? n * 4096 : rt_below(&r, size)] = 1;
	}
	cost = (struct cost){calls - before.calls, rt_faults() - before.faults};
	rt_print("     %zu system calls, %zu faults in %u rounds\n", cost.calls, cost.faults, ROUNDS);
	for (size_t k = 0; k < live; k++) {
		ash_release(p[k]);
		p[k] = NULL;
	}
	if (rt_under_qemu()) /* its faults are others */
		cost.faults = 0;
	return cost;
}

/* The same, which takes at most so many. */
static void at_most(size_t most_calls, size_t most_faults, size_t least, size_t range, size_t live, size_t bytes, bool zero)
{
	struct cost c = cost_of(least, range, live, bytes, zero);

	CHECK(c.calls <= most_calls && c.faults <= most_faults);
}

TEST(sparse_zeroed_again_and_again, 20)
{
	at_most(ROUNDS + 2, 4, 3000000, 0, 1, 1, true);
	at_most(ROUNDS + 2, 4, 20 * MIB, 0, 1, 1, true);
}

TEST_CALL(sparse_untouched, 20, at_most(ROUNDS + 2, 4, 100 * MIB, 0, 1, 0, true));
TEST_CALL(sparse_zeroed_buffers, 20, at_most(ROUNDS + 40, ROUNDS + 10, 5 * MIB, 20 * MIB, LIVE, 1, true));
/* Blocks that were not zeroed count as written: their chunks are retained, and moved. */
TEST_CALL(sparse_buffers, 20, at_most(12 * ROUNDS, ROUNDS + 20, 5 * MIB, 20 * MIB, LIVE, 1, false));

/* Blocks that are written throughout keep their pages. */
TEST(sparse_not_if_all_is_written, 20)
{
	at_most(2, 2, 3900000, 0, 1, SIZE_MAX, true);
	at_most(2, 2, 9 * MIB, 0, 1, SIZE_MAX, false);
	at_most(2, 2, 9 * MIB, 0, 1, SIZE_MAX, true);
}

/* ---- zeroed blocks are zero, whatever lay there ---- */

static unsigned char *block[LIVE];
static size_t size_of[LIVE];

static void replace(struct rt_random *r, size_t k, struct ash_heap *h)
{
	size_t size = size_of[k] = MIB + rt_below(r, 3 * MIB << rt_below(r, 3)), n;
	bool zero = rt_below(r, 3) != 0;

	if (h != NULL)
		block[k] = zero ? ash_heap_zalloc(h, 1, size) : ash_heap_alloc(h, size);
	else
		block[k] = zero ? ash_zalloc(1, size) : ash_alloc(size);
	CHECK(block[k] != NULL);
	if (zero)
		holds(block[k], size, 0);
	/* The first byte, a page somewhere, all of a part, or all of it. */
	n = rt_below(r, 4);
	if (n == 0)
		block[k][rt_below(r, 3 * PAGE_SIZE)] = 1;
	if (n == 1)
		memset(block[k] + rt_below(r, size - PAGE_SIZE), 2, PAGE_SIZE);
	if (n >= 2)
		memset(block[k], 3, n == 2 ? rt_below(r, size) : ash_usable_size(block[k]));
}

static void churn(struct ash_heap *h)
{
	size_t rounds = rt_under_qemu() ? 60 : 600, small = 40000, k;
	struct rt_random r;
	void *p;

	rt_seed(&r, rt_test_seed());
	for (size_t i = 0; i < rounds; i++) {
		k = rt_below(&r, LIVE);
		if (block[k] != NULL && rt_below(&r, 4) == 0) {
			size_t alignment = i % 3 == 0 ? MIB << rt_below(&r, 4) : 16;

			size_of[k] = MIB + rt_below(&r, 8 * MIB);
			p = h != NULL ? ash_heap_aligned_resize(h, block[k], alignment, size_of[k])
				      : ash_aligned_resize(block[k], alignment, size_of[k]);
			CHECK(p != NULL);
			block[k] = p;
			continue;
		}
		ash_release(block[k]);
		replace(&r, k, h);
		/* Slabs in chunks that were spans. */
		if (h == NULL && i % 8 == 0)
			for (size_t n = 0; n < 40; n++) {
				p = NOT_NULL(ash_zalloc(1, small));
				holds(p, small, 0);
				memset(p, 4, small);
				ash_release(n % 2 == 0 ? p : NULL);
			}
		if (i % 100 == 99)
			(void)heap_trim(&heap_default, rt_below(&r, 4 * MIB));
	}
	release_each(block, LIVE);
}

TEST(sparse_zeroed_is_zero, 60)
{
	churn(NULL);
	audit();
}

TEST(sparse_zeroed_is_zero_in_a_private_heap, 60)
{
	struct ash_heap *h = NOT_NULL(ash_heap_create(NULL));

	churn(h);
	CHECK_EQ(ash_heap_check(h), 0);
	ash_heap_destroy(h);
}

/* What the system refused while pages were locked says nothing about later. */
TEST(sparse_probe_is_refused_once, 10)
{
	char *p = pages_reserve(2 * MIB, 2 * MIB, PAGES_PRIVATE);

	CHECK(p != NULL && PAGE_SIZE != 0); /* known from now on: the calls below ask for it */
	memset(p, 1, 2 * MIB);
	page_locked = true;
	CHECK(!pages_purge(p, 2 * MIB, PAGES_PRIVATE));
	page_locked = false;
	CHECK(pages_purge(p, 2 * MIB, PAGES_PRIVATE) || rt_under_qemu());
}

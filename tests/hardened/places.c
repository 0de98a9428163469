/* SPDX-License-Identifier: MIT */
/*
 * promises: where a hardened product puts blocks: at random, not soon again, apart; that what is free reads zero; that
 * nothing is lost.
 */
#include "ashlar_malloc.h"
#include "pages.h"
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "support/malloc_names.h"
#include "support/pattern.h"
#include "support/resident.h"
#include "syscall.h"

/* Of blocks of one class, taken in a row: how many lie behind the one before. */
static unsigned rising(size_t size, unsigned n)
{
	char *before = NOT_NULL(malloc(size)), *p;
	unsigned up = 0;

	for (unsigned i = 1; i < n; i++, before = p) {
		p = NOT_NULL(malloc(size));
		up += p > before;
	}
	return up;
}

TEST(hardened_slots_are_at_random, 10)
{
	for (size_t size = 8; size <= 2000; size *= 3) {
		unsigned up = rising(size, 1000);

		/* A coin that is thrown 1000 times is beyond these once in 10^18; in order, all but some 30 rise. */
		rt_print("     %zu bytes: %u of 999 rise\n", size, up);
		CHECK(up > 350 && up < 650);
	}
}

/* Not of blocks of 0 bytes: they have no access, and their bits alone tell a second release (released_twice_empty). */
TEST(hardened_not_again_soon, 20)
{
	static const struct {
		size_t size;
		unsigned least;
	} rows[] = {{8, 32}, {24, 32}, {200, 32}, {1000, 8}, {4000, 2}, {8000, 1}, {32000, 1}};

	free(malloc(8));
	(void)ash_trim(0); /* it is empty, and goes on */
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		for (unsigned round = 0; round < 300; round++) {
			char *p = NOT_NULL(malloc(rows[i].size)), *q;

			free(p);
			for (unsigned n = 0; n < rows[i].least; n++) {
				q = NOT_NULL(malloc(rows[i].size));
				CHECK(q != p);
				free(q);
				free(malloc(400)); /* of another class: these do not count */
				free(malloc(400));
				free(malloc(400));
			}
		}
}

/* Of any size, whatever was there: released, resized, by another thread, trimmed. */
TEST(hardened_free_memory_reads_zero, 60)
{
	static char *p[500];
	size_t sizes[500];
	struct rt_random r;

	rt_seed(&r, rt_test_seed());
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < 500; i++) {
			sizes[i] = rt_below(&r, (size_t)1 << (3 + rt_below(&r, 18)));
			p[i] = NOT_NULL(malloc(sizes[i]));
			is_zero(p[i], sizes[i]);
			CHECK_EQ(malloc_usable_size(p[i]), sizes[i]);
			memset(p[i], 5, sizes[i]);
		}
		for (unsigned i = 0; i < 500; i += 2) {
			size_t size = rt_below(&r, 2 * sizes[i] + 100), had = sizes[i] < size ? sizes[i] : size;

			p[i] = NOT_NULL(ash_resize(p[i], size));
			for (size_t k = 0; k < had; k++)
				CHECK_EQ(p[i][k], 5);
			is_zero(p[i] + had, size - had);
			memset(p[i], 5, size);
			sizes[i] = size;
		}
		for (unsigned i = 0; i < 500; i++) {
			free(p[i]);
			/* What has no quarantine may be unmapped by now. */
			if (sizes[i] > 0 && sizes[i] < 16000)
				is_zero(p[i], sizes[i] < 16 ? sizes[i] : 16);
		}
		if (round % 5 == 0)
			(void)ash_trim(0);
		CHECK_EQ(ash_check(), 0);
	}
}

static bool is_mapped(const char *p)
{
	unsigned char there[16];

	return arch_mincore((void *)((uintptr_t)p & ~(PAGE_MOST - 1)), 1, there) == 0; /* NOLINT: an address */
}

/* Two large blocks, which may have grown, never share a border, and a released one is not mapped. */
static void stand_apart(size_t first, size_t size, unsigned n)
{
	static char *p[400];

	for (unsigned i = 0; i < n; i++)
		p[i] = NOT_NULL(realloc(NOT_NULL(malloc(first)), size));
	for (unsigned i = 0; i < n; i++)
		CHECK(!is_mapped(p[i] - 1) && !is_mapped(p[i] + (size + 8 + PAGE_MOST - 1) / PAGE_MOST * PAGE_MOST));
	for (unsigned i = 0; i < n; i++) {
		free(p[i]);
		CHECK(!is_mapped(p[i]));
	}
}

TEST(hardened_large_blocks_stand_apart, 20)
{
	for (size_t size = 132000; size < 4000000; size *= 3)
		stand_apart(size, size, 100);
	if (!rt_under_qemu()) { /* under which all is taken for mapped */
		stand_apart(PAGE_HUGE - 8, PAGE_HUGE - 8, 400); /* else 10 pairs would touch */
		stand_apart(PAGE_HUGE / 2, PAGE_HUGE - 8, 400);
		stand_apart(2 * PAGE_HUGE - 8, PAGE_HUGE - 8, 400); /* the place behind what a block keeps is not left */
	}
}

/* Where something else is in the window, a block gets another place there, not one beside what the kernel has anywhere. */
TEST(hardened_stand_apart_of_others, 30)
{
	enum { NO_ACCESS = 0, PRIVATE_ANONYMOUS = 0x4022, WINDOW = 35, BLOCKS = 300 };
	uintptr_t first = (uintptr_t)NOT_NULL(malloc(3000000)) >> WINDOW << WINDOW, at;
	unsigned others = 0, away = 0;

	for (at = first; at < first + ((uintptr_t)1 << WINDOW); at += 64 * PAGE_HUGE)
		if (arch_mmap((void *)at, 8 * PAGE_HUGE, NO_ACCESS, PRIVATE_ANONYMOUS, -1, 0) == (long)at) /* NOLINT: an address */
			others++;
	for (unsigned i = 0; i < BLOCKS; i++)
		away += (uintptr_t)NOT_NULL(malloc(PAGE_HUGE - 8)) >> WINDOW << WINDOW != first;
	rt_print("     %u others, %u of %u blocks elsewhere\n", others, away, BLOCKS);
	CHECK(others > 200 || rt_under_qemu());
	CHECK(away < 4); /* else some 37: an eighth of the places is taken */
}

/*
 * A search for memory passes the region of each, so beyond a limit large blocks share regions.  A block in a shared region
 * is cleared when it is released, and that touches no page that the program did not write.
 */
TEST(hardened_many_large_blocks, 60)
{
	enum { MANY = 1200 };
	static char *p[MANY];
	unsigned i, apart = 0;
	unsigned long before;

	for (i = 0; i < MANY; i++)
		*(p[i] = NOT_NULL(malloc(1200000))) = 1;
	for (i = 1; i < MANY; i++)
		apart += p[i] < p[i - 1] || p[i] - p[i - 1] > 64 << 20;
	rt_print("     %u of %u stand apart\n", apart, MANY);
	CHECK(apart > 900 && apart < 1150);
	before = rt_faults();
	for (i = 0; i < MANY; i++)
		free(p[i]);
	if (figures())
		CHECK(rt_faults() - before < 10 * MANY);
	for (i = 0; i < MANY; i++)
		CHECK_EQ(*(p[i] = NOT_NULL(malloc(1200000))), 0);
	CHECK_EQ(ash_check(), 0);
}

static void leave_some(void *detach)
{
	for (size_t size = 0; size < 32700; size += size / 8 + 1)
		for (unsigned i = 0; i < 40; i++)
			free(NOT_NULL(malloc(size)));
	if (detach != NULL)
		ash_thread_detach();
}

/* What waits in a quarantine goes back when the thread ends, or with the record to the next thread; so do its fences. */
TEST(hardened_quarantines_go_back, 20)
{
	static char detach;
	struct ash_statistics before, st;

	free(malloc(1));
	ash_stats(&before);
	for (unsigned i = 0; i < 20; i++) {
		rt_thread_join(rt_thread_start(leave_some, &detach));
		ash_stats(&st);
		CHECK_EQ(st.blocks, 0);
		CHECK_EQ(st.slabs, before.slabs);
	}
	CHECK_EQ(ash_check(), 0);
}

static void empty_it(void)
{
	struct ash_statistics st;

	ash_stats(&st);
}

static void release_one(void)
{
	free(NOT_NULL(malloc(24)));
}

static void release_some(void)
{
	for (unsigned i = 0; i < 4; i++)
		release_one();
}

/* A handler uses or empties the quarantine after each instruction of what uses or empties it: no block is lost. */
static void under_a_handler(void (*handler)(void), void (*call)(void))
{
	struct ash_statistics st;

	step_begin(handler);
	act_again = 1;
	CHECK(with_act_at(0, call));
	ash_stats(&st);
	CHECK(st.blocks == 0 && ash_check() == 0);
	rt_print("     a handler at %zu boundaries\n", acted);
}

TEST(hardened_emptied_under_a_handler, 60)
{
	for (unsigned i = 0; i < 64; i++)
		release_one();
	under_a_handler(release_one, empty_it);
}

TEST(hardened_released_under_a_handler, 60)
{
	struct ash_statistics st;

	release_one();
	under_a_handler(release_one, release_some);
	act = empty_it;
	act_again = 0;
	for (size_t k = 0; with_act_at(k, release_one); k++)
		for (unsigned i = 0; i < 64; i++) /* each place has a block */
			release_one();
	ash_stats(&st);
	CHECK(st.blocks == 0 && ash_check() == 0);
}

/* Without memory for another place a block stays, and is one of its new size; one is released without a quarantine. */
TEST(hardened_blocks_shrink_without_memory, 60)
{
	size_t bytes = 64 * ((size_t)1 << 20), n = 0;
	char *p = NOT_NULL(malloc(bytes)), *few = NOT_NULL(ash_aligned_alloc(4096, 100));

	p[0] = few[0] = 7;
	if (!rt_limit_address_space(rt_address_space()))
		rt_skip("no limit of address space here");
	while (malloc(100) != NULL)
		n++;
	CHECK(realloc(few, 100) == few && few[0] == 7);
	CHECK(realloc(p, 100) == p);
	CHECK(malloc_usable_size(p) == 100 && p[0] == 7 && ash_check() == 0);
	rt_print("     %zu blocks before\n", n);
	CHECK(rt_limit_address_space(rt_address_space()));
	free(few);
	free(p);
	CHECK_EQ(ash_check(), 0);
}

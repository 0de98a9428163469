/* SPDX-License-Identifier: MIT */
/*
 * Under a limit of address space (ulimit -v): blocks until there are no more,
 * all of them intact, all released; then as much again, of other sizes too.
 */
/* promises: ash_alloc, ash_resize */
#include "program/faults.h"
#include "support/blocks.h"
#include "thread/owner.h"
#include "thread/seat.h"

/* Blocks are chained through themselves: the test must need no memory of its own. */
struct block {
	struct block *next;
	size_t size;
};
static struct block *blocks;

static unsigned char pattern(const struct block *b, size_t i)
{
	return (unsigned char)((uintptr_t)b / 8 + b->size + i * 31);
}

static size_t stride(size_t size)
{
	return size > 65536 ? 65521 : size > 4096 ? 509 : 1;
}

/* The block's size, or 0: no memory. */
static size_t push(size_t size)
{
	struct block *b = ash_alloc(size);

	if (b == NULL)
		return 0;
	b->next = blocks;
	b->size = size;
	for (size_t i = sizeof(*b); i < size; i += stride(size))
		((unsigned char *)b)[i] = pattern(b, i);
	((unsigned char *)b)[size - 1] = pattern(b, size - 1);
	blocks = b;
	return size;
}

static size_t pop(void)
{
	struct block *b = blocks;
	size_t size = b->size;

	for (size_t i = sizeof(*b); i < size - 1; i += stride(size))
		CHECK_EQ(((unsigned char *)b)[i], pattern(b, i));
	CHECK_EQ(((unsigned char *)b)[size - 1], pattern(b, size - 1));
	blocks = b->next;
	ash_release(b);
	return size;
}

static void pop_all_but(size_t others)
{
	while (blocks != NULL)
		(void)pop();
	CHECK_EQ(ash_check(), 0);
	CHECK_EQ(stats_now().blocks, others);
}

static void pop_all(void)
{
	pop_all_but(0);
}

/* Of all sizes, the largest first to fail, until the smallest fails; the bytes. */
static size_t fill_mixed(size_t most)
{
	struct rt_random random;
	size_t total = 0;

	rt_seed(&random, rt_test_seed());
	while (most >= 32) {
		size_t size = 24 + rt_below(&random, most);
		size_t got = push(size);

		total += got;
		if (got == 0)
			most /= 2;
		else if (rt_below(&random, 3) == 0 && blocks->next != NULL)
			total -= pop();
	}
	while (push(24) != 0)
		total += 24;
	return total;
}

static size_t fill_with(size_t size)
{
	size_t total = 0;

	while (push(size) != 0)
		total += size;
	return total;
}

static void limit(size_t mebibytes)
{
	/* QEMU ignores the limit; there the wrapped system call keeps it. */
	if (!rt_limit_address_space(mebibytes * MIB))
		faults.budget = mebibytes * MIB - 1 * MIB + 1; /* the program and its stacks; never 0, which is no limit */
}

static void under_limit(const void *argument)
{
	size_t mebibytes = *(const size_t *)argument, first, again;

	if (rt_under_qemu() && mebibytes > 512) {
		rt_print("     512 MiB instead: addresses are dear under QEMU\n");
		mebibytes = 512;
	}
	limit(mebibytes);
	first = fill_mixed(mebibytes * MIB / 8);
	CHECK_EQ(ash_check(), 0);
	pop_all();
	again = fill_mixed(mebibytes * MIB / 8);
	pop_all();
	rt_print("     %zu MiB of addresses hold %zu KiB of blocks, then %zu KiB\n", mebibytes,
		 first / 1024, again / 1024);
	CHECK(first >= mebibytes * MIB / 2);
	/* Where the wrapped calls keep the limit, one order in forty is unlucky; what is lost is lost each time. */
	for (unsigned i = 0; rt_under_qemu() && i < 2 && again < first / 10 * 9; i++) {
		again = fill_mixed(mebibytes * MIB / 8);
		pop_all();
	}
	CHECK(again >= first / 10 * 9);
	/* What slabs held can become one block. */
	CHECK(push(mebibytes * MIB / 4) != 0);
	pop_all();
	CHECK(ash_zalloc(mebibytes * MIB / 4, 1) != NULL);
}

static const size_t limits[] = {16, 64, 256, 2048};
RT_ENTRY(limit_16, "limits_16_mib", under_limit, &limits[0], 30);
RT_ENTRY(limit_64, "limits_64_mib", under_limit, &limits[1], 30);
RT_ENTRY(limit_256, "limits_256_mib", under_limit, &limits[2], 60);
RT_ENTRY(limit_2048, "limits_2048_mib", under_limit, &limits[3], 60);

static struct rt_barrier filled, released;

static void release_all(UNUSED void *argument)
{
	rt_barrier_wait(&filled);
	while (blocks != NULL)
		(void)pop();
	rt_barrier_wait(&released);
}

/* Empty slabs that are kept for later are given up before the answer is NULL. */
TEST(limits_spares_are_given_up, 60)
{
	size_t others = 1; /* what fits beside the last chunk, for which 4 MiB were asked, has a region of its own */

	limit(16);
	CHECK(fill_with(30000) > 8 * MIB);
	while (ash_alloc(100000) != NULL)
		others++;
	CHECK(others * 100000 < 4 * MIB);
	for (int i = 0; i < 16; i++) /* four slabs of four */
		(void)pop();
	CHECK(ash_alloc(100000) != NULL);
	CHECK_EQ(ash_check(), 0);
	pop_all_but(others);
}

/* What another thread released is collected before the answer is NULL. */
static void released_by_another(bool lose_mail)
{
	struct rt_thread *thread;
	size_t total;

	filled.count = released.count = 2;
	thread = NOT_NULL(rt_thread_start(release_all, NULL));
	limit(64);
	CHECK(fill_with(100) > 32 * MIB);
	rt_barrier_wait(&filled);
	rt_barrier_wait(&released);
	if (lose_mail) {
		/* Inbox and marks are hints: what they lose must be found by looking. */
		memset(seat.self->inbox, 0, sizeof(seat.self->inbox));
	}
	total = fill_with(60000);
	rt_print("     of 64 MiB: %zu KiB after another thread released all\n", total / 1024);
	CHECK(total > 32 * MIB);
	rt_thread_join(thread);
	pop_all();
}

TEST_CALL(limits_released_by_another, 60, released_by_another(false));
TEST_CALL(limits_released_by_another_unheard, 60, released_by_another(true));

/* A failed resize under a real limit. */
TEST(limits_resize, 60)
{
	unsigned char *p;
	size_t size = MIB;

	limit(64);
	p = NOT_NULL(ash_alloc(size));
	for (;;) {
		unsigned char *q;

		memset(p, (int)(size >> 20), size);
		q = ash_resize(p, size + MIB);
		if (q == NULL)
			break;
		for (size_t i = 0; i < size; i += 97)
			CHECK_EQ(q[i], size >> 20);
		p = q;
		size += MIB;
		CHECK(size < 64 * MIB);
	}
	for (size_t i = 0; i < size; i += 97)
		CHECK_EQ(p[i], size >> 20);
	CHECK(size >= 16 * MIB);
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
	CHECK_EQ(ash_check(), 0);
}

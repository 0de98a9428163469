/* SPDX-License-Identifier: MIT */
/* sys/pages: the promises of its header about the system's memory. */
#include "cpu.h"
#include "pages.h"
#include "support/pattern.h"
#include "syscall.h"

static char *reserve(size_t bytes)
{
	return NOT_NULL(pages_reserve(bytes, PAGE_SIZE, PAGES_PRIVATE));
}

/* Neither natively nor under QEMU may the ends that were cut off stay. */
static void reserve_once(size_t bytes, size_t alignment, enum sharing sharing)
{
	size_t mappings = rt_mappings(), space = rt_address_space();
	char *p = NOT_NULL(pages_reserve(bytes, alignment, sharing));

	CHECK_EQ((uintptr_t)p & (alignment - 1), 0);
	for (size_t i = 0; i < bytes; i += PAGE_SIZE)
		CHECK(p[i] == 0 && p[i + PAGE_SIZE - 1] == 0);
	p[0] = p[bytes - 1] = 1;
	if (!rt_under_qemu()) /* there the figure is the emulator's */
		CHECK_EQ(rt_address_space(), space + bytes);
	CHECK(rt_mappings() <= mappings + 1);
	CHECK(pages_release(p, bytes));
	CHECK_EQ(rt_mappings(), mappings);
}

TEST(pages_reserve_alignments, 20)
{
	const size_t sizes[] = {PAGE_SIZE, 3 * PAGE_SIZE, 2 * MIB, 2 * MIB + PAGE_SIZE,
				       4 * MIB};
	size_t largest = rt_under_qemu() ? 32 * MIB : 1024 * MIB; /* 6 ms a GiB there */

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (size_t alignment = PAGE_SIZE; alignment <= largest; alignment *= 2) {
			reserve_once(sizes[i], alignment, PAGES_PRIVATE);
			reserve_once(sizes[i], alignment, PAGES_SHARED);
		}
}

/* A page in the way, of varying size, so that the first answer is unaligned. */
TEST(pages_reserve_unaligned, 10)
{
	for (size_t odd = 1; odd <= 16; odd++) {
		CHECK(rt_map(odd * PAGE_SIZE) != NULL);
		reserve_once(2 * MIB + PAGE_SIZE, 2 * MIB, PAGES_PRIVATE);
		reserve_once(4 * MIB, 4 * MIB, PAGES_SHARED);
	}
}

/* A hole that has room for the first attempt and not for the second, which ends where it shall. */
TEST(pages_reserve_in_a_hole, 10)
{
	size_t pages, hole;

	for (pages = 12; pages < 16; pages++)
		for (hole = 3; hole < 5; hole++) {
			char *way = NOT_NULL(rt_map(pages * PAGE_SIZE));

			rt_unmap(way + hole * PAGE_SIZE, 3 * PAGE_SIZE);
			reserve_once(3 * PAGE_SIZE, 2 * PAGE_SIZE, PAGES_PRIVATE);
			reserve_once(3 * PAGE_SIZE, 2 * PAGE_SIZE, PAGES_SHARED);
			rt_unmap(way, pages * PAGE_SIZE);
		}
}

TEST(pages_reserve_refuses, 10)
{
	/* More than there are addresses: an answer, not a panic. */
	CHECK(pages_reserve((size_t)1 << CPU_ADDRESS_BITS, PAGE_SIZE, PAGES_PRIVATE) == NULL);
	CHECK(pages_reserve((size_t)1 << 62, 2 * MIB, PAGES_PRIVATE) == NULL);
	CHECK(pages_reserve((size_t)1 << 63, 2 * MIB, PAGES_PRIVATE) == NULL);
	CHECK(pages_reserve((size_t)0 - PAGE_SIZE, PAGE_SIZE, PAGES_PRIVATE) == NULL);
}

TEST(pages_release_unmaps, 10)
{
	char *p = reserve(8 * PAGE_SIZE);
	unsigned char there[8];

	CHECK_EQ(arch_mincore(p, 8 * PAGE_SIZE, there), 0);
	CHECK(pages_release(p, 8 * PAGE_SIZE));
	CHECK(arch_mincore(p, 8 * PAGE_SIZE, there) < 0);
}

static void purge_middle(enum sharing sharing)
{
	size_t third = 3 * PAGE_SIZE;
	char *p = NOT_NULL(pages_reserve(3 * third, PAGE_SIZE, sharing));
	bool zeroes;

	for (int round = 0; round < 3; round++) {
		fill(p, 3 * third, 1);
		zeroes = pages_purge(p + third, third, sharing);
		/* The answer must be the truth; natively it must be yes. */
		CHECK(zeroes || rt_under_qemu());
		if (zeroes)
			is_zero(p + third, third);
		for (size_t i = 0; i < third; i++) {
			CHECK_EQ((unsigned char)p[i], pattern(i, 1));
			CHECK_EQ((unsigned char)p[2 * third + i], pattern(2 * third + i, 1));
		}
	}
	CHECK(pages_release(p, 3 * third));
}

TEST(pages_purge_private, 10)
{
	purge_middle(PAGES_PRIVATE);
	/* QEMU passes this advice on for private memory; a "no" here would be a loss. */
	char *p = reserve(PAGE_SIZE);
	CHECK(pages_purge(p, PAGE_SIZE, PAGES_PRIVATE));
}

TEST_CALL(pages_purge_shared, 10, purge_middle(PAGES_SHARED));

/* Shared memory that a process purges is purged for the other, too, or kept for both. */
TEST(pages_purge_shared_by_processes, 10)
{
	char *p = pages_reserve(2 * PAGE_SIZE, PAGE_SIZE, PAGES_SHARED);
	long pid;
	int zeroes;

	fill(p, 2 * PAGE_SIZE, 3);
	pid = rt_fork();
	if (pid == 0)
		rt_exit(pages_purge(p, PAGE_SIZE, PAGES_SHARED) ? 1 : 0);
	zeroes = rt_wait(pid);
	CHECK(zeroes == 1 || (zeroes == 0 && rt_under_qemu()));
	if (zeroes == 1)
		is_zero(p, PAGE_SIZE);
	for (size_t i = PAGE_SIZE; i < 2 * PAGE_SIZE; i++)
		CHECK_EQ((unsigned char)p[i], pattern(i, 3));
}

/* Locked memory refuses the advice: the answer must be no, and the bytes stay. */
TEST(pages_purge_locked, 10)
{
	char *p = reserve(2 * MIB), *q = reserve(PAGE_SIZE);

	CHECK(pages_purge(q, PAGE_SIZE, PAGES_PRIVATE)); /* the probe is done now */
	fill(p, 4 * PAGE_SIZE, 2);
	if (arch_mlock(p, 4 * PAGE_SIZE) != 0)
		rt_skip("mlock is refused here");
	if (!pages_purge(p, 4 * PAGE_SIZE, PAGES_PRIVATE))
		holds(p, 4 * PAGE_SIZE, 2);
	else
		is_zero(p, 4 * PAGE_SIZE);
	fill(p, 4 * PAGE_SIZE, 2);
	pages_clear(p, 2 * MIB, pages_hollow(p, 2 * MIB, PAGES_PRIVATE), PAGES_PRIVATE);
	is_zero(p, 2 * MIB);
}

TEST(pages_commit_backs, 10)
{
	enum { N = 64 };
	unsigned char there[N];
	char *p = reserve(N * PAGE_SIZE);
	size_t present = 0;

	p[PAGE_SIZE] = 5;
	CHECK(pages_commit(p, N * PAGE_SIZE));
	CHECK_EQ(arch_mincore(p, N * PAGE_SIZE, there), 0);
	for (int i = 0; i < N; i++)
		present += there[i] & 1;
	/* QEMU takes all advice and passes on little of it: a wish, as it says. */
	CHECK(present == N || rt_under_qemu());
	CHECK_EQ(p[PAGE_SIZE], 5);
	p[PAGE_SIZE] = 0;
	is_zero(p, N * PAGE_SIZE);
	CHECK(!pages_commit((char *)PAGE_SIZE, PAGE_SIZE) || rt_under_qemu());
}

TEST(pages_grow_in_place, 10)
{
	char *p = reserve(16 * PAGE_SIZE);

	CHECK(pages_release(p + 4 * PAGE_SIZE, 12 * PAGE_SIZE));
	fill(p, 4 * PAGE_SIZE, 7);
	CHECK(pages_grow(p, 4 * PAGE_SIZE, 12 * PAGE_SIZE, PAGES_PRIVATE));
	holds(p, 4 * PAGE_SIZE, 7);
	is_zero(p + 4 * PAGE_SIZE, 8 * PAGE_SIZE);
	fill(p, 12 * PAGE_SIZE, 8);
	holds(p, 12 * PAGE_SIZE, 8);
}

/* Advice for a part makes two mappings of one, and a move does. */
TEST(pages_grow_of_several_mappings, 10)
{
	char *p = reserve(16 * PAGE_SIZE);

	CHECK(pages_release(p + 12 * PAGE_SIZE, 4 * PAGE_SIZE));
	fill(p, 12 * PAGE_SIZE, 7);
	(void)pages_huge(p, 4 * PAGE_SIZE, false);
	CHECK(pages_grow(p, 12 * PAGE_SIZE, 14 * PAGE_SIZE, PAGES_PRIVATE));
	holds(p, 12 * PAGE_SIZE, 7);
	is_zero(p + 12 * PAGE_SIZE, 2 * PAGE_SIZE);
	CHECK(pages_grow(p, 14 * PAGE_SIZE, 15 * PAGE_SIZE, PAGES_PRIVATE));
	fill(p, 15 * PAGE_SIZE, 8);
	holds(p, 15 * PAGE_SIZE, 8);
}

TEST(pages_grow_refuses, 10)
{
	char *p = reserve(16 * PAGE_SIZE);
	size_t space;

	fill(p, 16 * PAGE_SIZE, 7);
	space = rt_address_space();
	/* The neighbour is ours, too, but not free. */
	CHECK(!pages_grow(p, 4 * PAGE_SIZE, 5 * PAGE_SIZE, PAGES_PRIVATE));
	if (!rt_under_qemu()) /* there the figure is the emulator's */
		CHECK_EQ(rt_address_space(), space); /* nor is anything mapped elsewhere */
	holds(p, 16 * PAGE_SIZE, 7);
}

TEST(pages_huge_harmless, 10)
{
	char *p = pages_reserve(2 * MIB, 2 * MIB, PAGES_PRIVATE);

	fill(p, 2 * MIB, 4);
	pages_huge(p, 2 * MIB, true);
	holds(p, 2 * MIB, 4);
	pages_huge(p, 2 * MIB, false);
	holds(p, 2 * MIB, 4);
}

/* Whether a range is one mapping is found out by growing it: the growth is undone. */
TEST(pages_move_leaves_what_is_behind, 10)
{
	const size_t bytes = 2 * MIB;
	char *from = pages_reserve(2 * bytes, bytes, PAGES_PRIVATE), *to;
	unsigned char there;

	CHECK(from != NULL);
	to = NOT_NULL(pages_reserve(bytes, bytes, PAGES_PRIVATE));
	CHECK(pages_release(from + bytes, bytes)); /* a hole */
	from[0] = from[bytes - 1] = 7;
	CHECK(arch_mincore(from + bytes, PAGE_SIZE, &there) < 0);
	pages_move(from, to, bytes);
	CHECK(to[0] == 7 && to[bytes - 1] == 7);
	CHECK(arch_mincore(from + bytes, PAGE_SIZE, &there) < 0);
	CHECK(pages_release(from, bytes) && pages_release(to, bytes));
}

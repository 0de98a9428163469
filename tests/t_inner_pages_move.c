/* SPDX-License-Identifier: MIT */
/*
 * pages_move and pages_zero.  The old range of a move must stay ours in every
 * respect: an emulator that believes it unmapped gives it to the next mmap,
 * or answers advice on it with a lie.
 */
#include "filled.h"
#include "pages.h"
#include "rt.h"
#include "syscall.h"

/* A range is two huge pages, aligned to one; the bytes of interest end inside the second. */
enum { N = 2 };
#define HUGE  ((size_t)1 << CPU_HUGE_SHIFT)
#define RANGE (N * HUGE)
#define BYTES (RANGE - 5 * PAGE_SIZE)

static char *reserve(size_t bytes)
{
	char *p = pages_reserve(bytes, bytes < HUGE ? PAGE_SIZE : HUGE, PAGES_PRIVATE);

	CHECK(p != NULL);
	return p;
}

static void move(char *from, char *to, size_t bytes, unsigned key)
{
	pages_move(from, to, bytes);
	holds(to, bytes, key);
}

TEST(pages_move_back_and_forth, 20)
{
	char *a = reserve(RANGE), *gap = rt_map(PAGE_SIZE), *b = reserve(RANGE);

	CHECK(gap != NULL);
	for (unsigned round = 0; round < 4; round++) {
		fill(a, BYTES, round);
		move(a, b, BYTES, round);
		fill(b, BYTES, round + 100);
		move(b, a, BYTES, round + 100);
	}
}

/* Natively no byte is copied: the pages themselves are elsewhere afterwards. */
TEST(pages_move_moves_pages, 20)
{
	char *a = reserve(RANGE), *b = reserve(RANGE);
	unsigned char there;

	fill(a, RANGE, 1);
	move(a, b, RANGE, 1);
	for (size_t i = 0; i < RANGE; i += PAGE_SIZE) {
		CHECK_EQ(arch_mincore(a + i, PAGE_SIZE, &there), 0);
		CHECK((there & 1) == 0 || rt_under_qemu());
	}
}

/* The middle of a mapping, as a span in a region is. */
TEST(pages_move_middle, 20)
{
	char *a = reserve(3 * RANGE), *b = reserve(3 * RANGE);

	fill(a, 3 * RANGE, 1);
	fill(b, 3 * RANGE, 2);
	fill(a + RANGE, RANGE, 3);
	move(a + RANGE, b + RANGE, BYTES, 3);
	holds(a, RANGE, 1);
	holds(b, RANGE, 2);
	for (size_t i = 2 * RANGE; i < 3 * RANGE; i++) {
		CHECK_EQ((unsigned char)a[i], pattern(i, 1));
		CHECK_EQ((unsigned char)b[i], pattern(i, 2));
	}
}

/* The old range stays ours: nothing else is mapped there. */
TEST(pages_move_old_stays_reserved, 20)
{
	char *a = reserve(RANGE), *b = reserve(RANGE);
	unsigned char there[RANGE / PAGE_SIZE];

	fill(a, BYTES, 1);
	move(a, b, BYTES, 1);
	CHECK_EQ(arch_mincore(a, RANGE, there), 0);
	CHECK_EQ(arch_mincore(b, RANGE, there), 0);
	fill(a, RANGE, 5);
	for (size_t i = 0; i < 200; i++) {
		size_t bytes = (1 + i % 8) * (i % 3 == 0 ? HUGE / 8 : PAGE_SIZE);
		char *p = rt_map(bytes);

		CHECK(p != NULL);
		CHECK(p + bytes <= a || p >= a + RANGE);
		memset(p, 0xee, bytes);
	}
	holds(a, RANGE, 5);
	holds(b, BYTES, 1);
}

/* Advice on the old range, after it was dirtied again, is as good as on any other. */
TEST(pages_move_old_can_be_purged, 20)
{
	char *a = reserve(RANGE), *b = reserve(RANGE);

	for (unsigned round = 0; round < 3; round++) {
		fill(a, BYTES, round);
		move(a, b, BYTES, round);
		fill(a, RANGE, 9);
		if (pages_purge(a, RANGE, PAGES_PRIVATE))
			is_zero(a, RANGE);
		fill(a, RANGE, 9);
		pages_zero(a, RANGE);
		is_zero(a, RANGE);
		fill(b, RANGE, 9);
		if (pages_purge(b, RANGE, PAGES_PRIVATE))
			is_zero(b, RANGE);
		fill(b, RANGE, 9);
		pages_zero(b, RANGE);
		is_zero(b, RANGE);
	}
}

/* The kernel may write there: an emulator must know the range. */
TEST(pages_move_old_takes_system_calls, 20)
{
	char *a = reserve(RANGE), *b = reserve(RANGE);

	fill(a, BYTES, 1);
	move(a, b, BYTES, 1);
	CHECK(rt_read_file("/proc/self/stat", a, PAGE_SIZE) > 0);
	CHECK(rt_read_file("/proc/self/stat", b, PAGE_SIZE) > 0);
}

/* Mappings of their own in the range: at a border of huge pages, and within one. */
TEST(pages_move_several_mappings, 20)
{
	char *a = reserve(RANGE), *b = reserve(RANGE), *c = reserve(RANGE);

	fill(a, HUGE, 0);
	move(a, b, HUGE, 0);
	pages_huge(b + HUGE + HUGE / 2, HUGE / 4, true);
	fill(b, RANGE, 6);
	move(b, c, BYTES, 6);
	fill(c, RANGE, 7);
	move(c, b, BYTES, 7);
	fill(b, RANGE, 8);
	move(b, a, BYTES, 8);
}

/* Random pages are dirty, the others holes: after the call the range is zero and no other byte. */
static void zero_once(char *p, size_t pages, size_t from, size_t bytes, struct rt_random *r)
{
	enum { PAGES_MAX = 1100 };
	bool dirty[PAGES_MAX];

	CHECK(pages <= PAGES_MAX);
	CHECK(pages_purge(p, pages * PAGE_SIZE, PAGES_PRIVATE));
	for (size_t i = 0; i < pages; i++) {
		dirty[i] = rt_below(r, 2) != 0;
		if (dirty[i])
			fill(p + i * PAGE_SIZE, PAGE_SIZE, 1);
	}
	pages_zero(p + from, bytes);
	is_zero(p + from, bytes);
	for (size_t i = 0; i < pages * PAGE_SIZE; i++)
		if (i < from || i >= from + bytes)
			CHECK_EQ((unsigned char)p[i],
				 dirty[i / PAGE_SIZE] ? pattern(i % PAGE_SIZE, 1) : 0);
}

TEST(pages_zero_odd_ranges, 30)
{
	enum { PAGES = 6 };
	static const size_t ends[] = {0, 1, 7, 8, 2047, 4088, 4095};
	char *p = reserve(PAGES * PAGE_SIZE);
	struct rt_random random;

	rt_seed(&random, rt_test_seed());
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		for (size_t j = 0; j < sizeof(ends) / sizeof(ends[0]); j++)
			for (size_t n = 0; n < 4; n++) {
				size_t from = PAGE_SIZE + ends[i];
				size_t end = PAGE_SIZE + n * PAGE_SIZE + ends[j];

				if (end >= from)
					zero_once(p, PAGES, from, end - from, &random);
			}
}

TEST(pages_zero_random_ranges, 60)
{
	/* More pages than one answer of mincore holds. */
	size_t pages = 1100, rounds = rt_under_qemu() ? 4 : 40;
	char *p = reserve(pages * PAGE_SIZE);
	struct rt_random random;

	rt_seed(&random, rt_test_seed());
	for (size_t i = 0; i < rounds; i++) {
		size_t from = rt_below(&random, pages * PAGE_SIZE);
		size_t bytes = rt_below(&random, pages * PAGE_SIZE - from + 1);

		zero_once(p, pages, from, bytes, &random);
	}
	zero_once(p, pages, 0, pages * PAGE_SIZE, &random);
}

/* What was never touched must not be touched to make it zero. */
TEST(pages_zero_leaves_holes, 10)
{
	size_t pages = 4096;
	char *p = reserve(pages * PAGE_SIZE);
	unsigned char there[64];
	size_t present = 0;

	for (size_t i = 0; i < pages; i += 64)
		p[i * PAGE_SIZE] = 1;
	pages_zero(p, pages * PAGE_SIZE);
	for (size_t i = 0; i < pages; i += 64) {
		CHECK_EQ(arch_mincore(p + i * PAGE_SIZE, sizeof(there) * PAGE_SIZE, there), 0);
		for (size_t j = 0; j < sizeof(there); j++)
			present += there[j] & 1;
	}
	CHECK(present <= pages / 64);
	for (size_t i = 0; i < pages; i++)
		CHECK_EQ(p[i * PAGE_SIZE], 0);
}

/*
 * Near the limit of mappings (max_map_count) the kernel may move the first of
 * several mappings and refuse the second: the target must get it all.
 */
enum { HEADROOM = 14, HOLES = 70000 };
static char *source, *target, *comb_end;

static void move_with_headroom(void *mappings)
{
	for (size_t i = 0; i < *(size_t *)mappings; i++, comb_end -= 2 * PAGE_SIZE)
		CHECK(pages_release(comb_end - PAGE_SIZE, PAGE_SIZE));
	move(source, target, BYTES, 1);
}

static void move_at_the_limit(void)
{
	char text[256], *comb;

	if (rt_under_qemu())
		rt_skip("the emulator needs mappings of its own, and moves nothing");
	/* Once in peace, so that what is found out by a try is known. */
	pages_move(reserve(HUGE), reserve(HUGE), HUGE);
	fill(source, RANGE, 1);
	/* Every other page goes, until the kernel has no mapping left for it. */
	comb = reserve((size_t)2 * HOLES * PAGE_SIZE);
	for (comb_end = comb; pages_release(comb_end, PAGE_SIZE); comb_end += 2 * PAGE_SIZE)
		CHECK(comb_end < comb + (size_t)2 * (HOLES - 1) * PAGE_SIZE);
	for (size_t headroom = 0; headroom < HEADROOM; headroom++) {
		CHECK_EQ(rt_run_child(move_with_headroom, &headroom, text, sizeof(text)), 0);
		CHECK_EQ(text[0], 0);
	}
}

TEST(pages_move_at_the_mapping_limit, 30)
{
	source = reserve(RANGE);
	target = reserve(RANGE);
	move_at_the_limit();
}

TEST(pages_move_several_at_the_mapping_limit, 30)
{
	source = reserve(RANGE);
	target = reserve(RANGE);
	/* Four mappings in each piece. */
	for (size_t i = 0; i < RANGE; i += HUGE / 2)
		pages_huge(source + i, HUGE / 4, true);
	move_at_the_limit();
}

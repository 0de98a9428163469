/* SPDX-License-Identifier: MIT */
/*
 * pages_move and pages_clear.  The old range of a move must stay ours in every
 * respect: an emulator that believes it unmapped gives it to the next mmap,
 * or answers advice on it with a lie.
 */
#include "pages.h"
#include "support/pattern.h"
#include "syscall.h"

/* A range is two huge pages, aligned to one; the bytes of interest end inside the second. */
enum { N = 2 };
#define HUGE  ((size_t)1 << 21)
#define RANGE (N * HUGE)
#define BYTES (RANGE - 5 * PAGE_SIZE)

static char *reserve(size_t bytes)
{
	return NOT_NULL(pages_reserve(bytes, bytes < HUGE ? PAGE_SIZE : HUGE, PAGES_PRIVATE));
}

static void move(char *from, char *to, size_t bytes, unsigned key)
{
	pages_move(from, to, bytes);
	holds(to, bytes, key);
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
		char *p = NOT_NULL(rt_map(bytes));

		CHECK(p + bytes <= a || p >= a + RANGE);
		memset(p, 0xee, bytes);
	}
	holds(a, RANGE, 5);
	holds(b, BYTES, 1);
}

/* By advice, where that has an effect, and by hand. */
static void can_be_cleared(char *range)
{
	fill(range, RANGE, 9);
	if (pages_purge(range, RANGE, PAGES_PRIVATE))
		is_zero(range, RANGE);
	fill(range, RANGE, 9);
	pages_clear(range, RANGE, pages_hollow(range, RANGE, PAGES_PRIVATE), PAGES_PRIVATE);
	is_zero(range, RANGE);
}

/* Advice on the old range, after it was dirtied again, is as good as on any other. */
TEST(pages_move_old_can_be_purged, 20)
{
	char *a = reserve(RANGE), *b = reserve(RANGE);

	for (unsigned round = 0; round < 3; round++) {
		fill(a, BYTES, round);
		move(a, b, BYTES, round);
		can_be_cleared(a);
		can_be_cleared(b);
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

/* Random pages are dirty, the others holes: after the call all is zero, and nothing beside it. */
static void zero_once(enum sharing sharing, unsigned dirty_of_8)
{
	char *p = NOT_NULL(pages_reserve(4 * HUGE, HUGE, sharing));
	struct rt_random random;

	rt_seed(&random, rt_test_seed() + dirty_of_8);
	memset(p, 0xee, HUGE);
	memset(p + 3 * HUGE, 0xee, HUGE);
	for (size_t i = HUGE; i < 3 * HUGE; i += PAGE_SIZE)
		if (rt_below(&random, 8) < dirty_of_8)
			fill(p + i, PAGE_SIZE, 1);
	pages_clear(p + HUGE, 2 * HUGE, pages_hollow(p + HUGE, 2 * HUGE, sharing), sharing);
	is_zero(p + HUGE, 2 * HUGE);
	for (size_t i = 0; i < HUGE; i++) {
		CHECK_EQ((unsigned char)p[i], 0xee);
		CHECK_EQ((unsigned char)p[3 * HUGE + i], 0xee);
	}
	CHECK(pages_release(p, 4 * HUGE));
}

TEST(pages_clear_random_pages, 60)
{
	for (unsigned dirty_of_8 = 0; dirty_of_8 <= 8; dirty_of_8 += rt_under_qemu() ? 4 : 1) {
		zero_once(PAGES_PRIVATE, dirty_of_8);
		zero_once(PAGES_SHARED, dirty_of_8);
	}
}

/* Pages that were never touched must not be touched to make them zero. */
TEST(pages_clear_leaves_holes, 10)
{
	char *p = reserve(HUGE);
	unsigned char there[HUGE / PAGE_SIZE];
	size_t present = 0;

	for (size_t i = 0; i < HUGE; i += 64 * PAGE_SIZE)
		p[i] = 1;
	CHECK(pages_there(p) && !pages_there(p + 7 * PAGE_SIZE));
	present = pages_count(p, HUGE);
	CHECK(present > 0 && present <= HUGE / 64 + PAGE_SIZE);
	pages_clear(p, HUGE, pages_hollow(p, HUGE, PAGES_PRIVATE), PAGES_PRIVATE);
	present = 0;
	CHECK_EQ(arch_mincore(p, HUGE, there), 0);
	for (size_t i = 0; i < sizeof(there); i++)
		present += there[i] & 1;
	CHECK(present <= sizeof(there) / 64 + 1);
	is_zero(p, HUGE);
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
	/* Once in peace, so that the facts that are found out by a try are known. */
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

/* The smallest that is moved, where the system cannot: it is copied, once. */
TEST(pages_move_one_piece_of_two_mappings, 10)
{
	enum { NOHUGEPAGE = 15 };
	char *from = NOT_NULL(pages_reserve(2 * MIB, 2 * MIB, PAGES_PRIVATE));
	char *to = NOT_NULL(pages_reserve(2 * MIB, 2 * MIB, PAGES_PRIVATE));

	if (arch_madvise(from, MIB, NOHUGEPAGE) != 0)
		rt_skip("the system has no huge pages, and so no such advice");
	fill(from, 2 * MIB, 5);
	pages_move(from, to, 2 * MIB);
	holds(to, 2 * MIB, 5);
}

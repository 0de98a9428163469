/* SPDX-License-Identifier: MIT */
/* Advice on huge pages must not cost mappings, nor memory that was never touched. */
/* promises: ash_alloc, ash_resize, ash_zalloc */
#include "ashlar.h"
#include "backend/heap.h"
#include "program/faults.h"
#include "program/smaps.h"
#include "support/blocks.h"
#include "syscall.h"

static void needs_figures(void)
{
	if (rt_under_qemu())
		rt_skip("resident memory and mappings are the emulator's here");
}

/* ---- mappings ---- */

enum { BLOCKS = 2000 };
static unsigned char *block[BLOCKS];

/* malloc and calloc in turn; the first byte written, unless that would be 2 MiB. */
static void in_turn(bool write, int rounds)
{
	size_t before = rt_mappings(), now;

	for (int i = 0; i < BLOCKS; i++) {
		block[i] = (i & 1) != 0 ? ash_zalloc(1, 5 * MIB) : ash_alloc(5 * MIB);
		CHECK(block[i] != NULL);
		if (write)
			block[i][0] = 1;
	}
	now = rt_mappings();
	rt_print("     %zu mappings\n", now - before);
	CHECK(now - before <= 180);
	/* Others in their places, large enough for huge pages now and then. */
	for (int round = 0; round < rounds; round++) {
		for (int i = round; i < BLOCKS; i += 9) {
			ash_release(block[i]);
			block[i] = (i & 1) == 0 ? ash_zalloc(1, (size_t)(2 + i % 17 * 2) * MIB)
						: ash_alloc((size_t)(2 + i % 17 * 2) * MIB);
			CHECK(block[i] != NULL);
		}
		now = rt_mappings();
		rt_print("     %zu mappings\n", now - before);
		CHECK(now - before <= 180);
	}
	release_each(block, BLOCKS);
	CHECK_EQ(ash_check(), 0);
}

/* Chunks that are retained would be moved, and be a mapping each: tests/inner/backend/retain_lend.c counts these. */
static void nothing_is_retained(void)
{
	static struct ash_defaults options;

	options = ash_defaults;
	options.retain = 0;
	heap_default.options = &options;
}

TEST(few_mappings, 20)
{
	needs_figures();
	nothing_is_retained();
	in_turn(!setting_has(HUGE_SETTING, "[always]"), 3);
}

/* As where the machine's setting is "always": then zeroed blocks do need their advice. */
TEST(few_mappings_always, 20)
{
	needs_figures();
	nothing_is_retained();
	faults.always = true;
	in_turn(false, 1);
}

/* No mapping can be had, and no advice: there is room in the heap. */
TEST(few_mappings_at_the_limit, 60)
{
	enum { MOST = 70000 };
	unsigned char *p = ash_alloc(96 * MIB), *q[8];
	size_t n;

	needs_figures();
	CHECK(p != NULL);
	ash_release(p);
	for (n = 0; n < MOST; n++) {
		/* Readable or not, in turn: the kernel makes no one mapping of them. */
		long r = __real_arch_mmap(NULL, 4096, n & 1, 0x22, -1, 0);

		if (r < 0 && r > -4096)
			break;
	}
	if (n == MOST)
		rt_skip("this machine allows more mappings");
	for (int i = 0; i < 8; i++) {
		q[i] = (i & 1) != 0 ? ash_zalloc(1, 5 * MIB) : ash_alloc(5 * MIB);
		CHECK(q[i] != NULL);
		q[i][5 * MIB - 1] = 1;
	}
	release_each(q, 8);
	p = NOT_NULL(ash_alloc(40 * MIB));
	p[0] = 1;
	CHECK_EQ(ash_check(), 0);
}

/* ---- memory ---- */

/* Allocates blocks and writes a byte of each at this distance; returns the bytes that become resident. */
static size_t touched(size_t blocks, size_t bytes, size_t apart)
{
	size_t before = rt_anonymous(), now;

	for (size_t i = 0; i < blocks; i++) {
		volatile unsigned char *p = ash_alloc(bytes);

		CHECK(p != NULL);
		for (size_t k = 0; k < bytes; k += apart)
			p[k] = 1;
	}
	now = rt_anonymous();
	rt_print("     %zu x %zu KiB: %zu KiB\n", blocks, bytes / KIB, (now - before) / KIB);
	return now - before;
}

TEST(huge_not_for_first_bytes, 20)
{
	static const size_t sizes[] = {33000, 100000, 260000, MIB, 2 * MIB + 64, 4 * MIB + 64, 31 * MIB};

	needs_figures();
	needs_advice();
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t n = sizes[i] > 2 * MIB ? 40 : 128 * MIB / sizes[i];

		CHECK(touched(n, sizes[i], SIZE_MAX / 2) <= MIB + (n > 40 ? n * 2 * PAGE + 3 * MIB : 0));
	}
}

/* ---- advice that was given is known ---- */

#define WANTED "hg" /* MADV_HUGEPAGE    */
#define PLAIN  "nh" /* MADV_NOHUGEPAGE  */

/* Advice comes along with pages that move. */
TEST(huge_advised_again_after_a_move, 20)
{
	unsigned char *large, *p, *way, *moved;

	needs_huge_pages();
	faults.always = true; /* so that zeroed blocks are advised against them */
	large = NOT_NULL(ash_alloc(128 * MIB));
	p = NOT_NULL(ash_zalloc(1, 24 * MIB));
	CHECK_EQ(smaps_sum(p, 24 * MIB, PLAIN), 24 * MIB);
	/* In its place one that will be filled; it need not be told anything. */
	ash_release(p);
	way = p;
	p = ash_alloc(24 * MIB);
	CHECK(p == way);
	p[0] = 1;
	ash_release(large);
	way = ash_alloc(2 * MIB); /* there is no way to grow where it stands */
	moved = ash_resize(p, 120 * MIB);
	CHECK(way != NULL && moved != NULL && moved != p);
	CHECK_EQ(smaps_sum(moved, 120 * MIB, PLAIN), 0);
	CHECK_EQ(smaps_sum(moved, 120 * MIB, WANTED), 120 * MIB);
}

/* Refused for once: it is asked for again. */
TEST(huge_advice_refused_once, 20)
{
	unsigned char *p;

	needs_huge_pages();
	faults.advice_error = -FAULT_ENOMEM;
	p = NOT_NULL(ash_alloc(64 * MIB));
	CHECK_EQ(smaps_sum(p, 64 * MIB, WANTED), 0);
	faults.advice_error = 0;
	ash_release(p);
	p = ash_alloc(64 * MIB);
	CHECK_EQ(smaps_sum(p, 64 * MIB, WANTED), 64 * MIB);
}

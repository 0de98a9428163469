/* SPDX-License-Identifier: MIT */
/*
 * What a peak leaves goes while it is released, without a further call.  One that comes again keeps its
 * pages, for a while.
 */
/* promises: ash_release */
/* promises: ash_alloc, ash_release */
#include "support/blocks.h"
#include "support/resident.h"

struct kind {
	size_t size, bytes;
	unsigned char **block;
	size_t base;
};

static struct kind kind_of(size_t size, size_t bytes)
{
	struct kind k = {size, bytes, NULL, 0};

	k.block = NOT_NULL(rt_map(bytes / size * sizeof(*k.block)));
	memset(k.block, 0, bytes / size * sizeof(*k.block));
	ash_release(ash_alloc(100));
	k.base = rt_anonymous();
	return k;
}

static void take(struct kind *k)
{
	for (size_t i = 0; i < k->bytes / k->size; i++)
		k->block[i] = filled(k->size);
}

static void release(struct kind *k)
{
	for (size_t i = 0; i < k->bytes / k->size; i++)
		ash_release(k->block[i]);
}

static size_t resident(const struct kind *k)
{
	size_t now = rt_anonymous();

	return now > k->base ? now - k->base : 0;
}

static size_t retained(void)
{
	return stats_now().dirty;
}

/* After the first peak at most this stays; it includes the records of the chunks, which never go. */
static void goes_at_once(size_t size)
{
	struct kind k = kind_of(size, scaled(100 * MIB, 24 * MIB));
	size_t left;

	needs_small_pages();
	take(&k);
	release(&k);
	left = resident(&k);
	rt_print("     %zu-byte blocks: %zu KiB retained, %zu resident\n", size, retained() / KIB, left / KIB);
	CHECK(retained() <= ash_defaults.retain / 2);
	if (figures())
		CHECK(left <= 32 * MIB);
	for (int i = 0; i < 1000; i++)
		ash_release(ash_alloc(100));
	if (figures())
		CHECK(resident(&k) <= 8 * MIB);
	CHECK_EQ(ash_check(), 0);
}

/* From the third time on no page is faulted in again, but for one chunk. */
static void comes_again(size_t size)
{
	struct kind k = kind_of(size, scaled(100 * MIB, 24 * MIB));
	unsigned long before = 0, chunk = 2 * MIB / PAGE;

	for (int round = 0; round < 20; round++) {
		if (round == 2)
			before = rt_faults();
		take(&k);
		release(&k);
	}
	rt_print("     %zu-byte blocks: %lu faults\n", size, rt_faults() - before);
	if (figures())
		CHECK(rt_faults() - before < 200 + chunk);
	CHECK(retained() > k.bytes / 2);
	/* But not for ever: fast calls are enough. */
	for (int i = 0; i < 100000; i++)
		ash_release(ash_alloc(100));
	CHECK(retained() <= ash_defaults.retain);
	/* And one that is not needed again is forgotten. */
	for (int i = 0; i < 300000; i++)
		ash_release(ash_alloc(40000));
	take(&k);
	release(&k);
	CHECK(retained() <= ash_defaults.retain / 2 || retained() <= k.bytes / 4);
	CHECK_EQ(ash_check(), 0);
}

#define SIZES(test)                                                                                \
	test(64) test(1000) test(8000) test(100000) test(900000) test(5000000) test(20000000)
#define AT_ONCE(size)                                                                              \
	TEST(keep_no_peak_of_##size, 20)                                                           \
	{                                                                                          \
		goes_at_once(size);                                                                \
	}
#define AGAIN(size)                                                                                \
	TEST(keep_a_peak_again_of_##size, 20)                                                      \
	{                                                                                          \
		comes_again(size);                                                                 \
	}
SIZES(AT_ONCE)
SIZES(AGAIN)

/* A peak beside much that is in use: a quarter of that may stay. */
TEST(keep_a_quarter_beside_live_blocks, 20)
{
	struct kind live = kind_of(100000, scaled(60 * MIB, 16 * MIB)), k;

	take(&live);
	k = kind_of(5000000, scaled(100 * MIB, 24 * MIB));
	take(&k);
	release(&k);
	CHECK(retained() <= live.bytes / 4 + 4 * MIB);
	release(&live);
	CHECK(retained() <= ash_defaults.retain / 2);
}

/* Large values, of which some are replaced at a time: a tenth of what lives stays, and little when none does. */
TEST(keep_a_tenth_beside_large_values, 20)
{
	enum { LIVE = 12, AT_A_TIME = 4, ROUNDS = 6 };
	unsigned char *live[LIVE] = {NULL}, *next[AT_A_TIME];
	size_t size = 40 * MIB;

	needs_small_pages(); /* others are huge from elsewhere on */
	needs_pages_of_4k(); /* with larger ones blocks get no huge pages, and a quarter may stay */
	for (int i = 0; i < LIVE; i++)
		touch(live[i] = NOT_NULL(ash_alloc(size)), size);
	for (int i = 0; i < ROUNDS * AT_A_TIME; i += AT_A_TIME) {
		for (int k = 0; k < AT_A_TIME; k++)
			touch(next[k] = NOT_NULL(ash_alloc(size)), size);
		for (int k = 0; k < AT_A_TIME; k++) {
			ash_release(live[(i + k) % LIVE]);
			live[(i + k) % LIVE] = next[k];
		}
		rt_print("     %zu MiB retained\n", retained() / MIB);
		CHECK(retained() <= LIVE * size / 10);
	}
	release_each(live, LIVE);
	rt_print("     %zu MiB retained\n", retained() / MIB);
	CHECK(retained() <= 64 * MIB);
	CHECK_EQ(ash_check(), 0);
}

/* Each step of a growing array takes fresh memory: in the end no step is kept. */
TEST(keep_no_ladder, 20)
{
	size_t base, size = MIB;
	unsigned char *p = NULL;

	ash_release(ash_alloc(100));
	base = rt_anonymous();
	for (; size < scaled(200 * MIB, 24 * MIB); size += size / 2) {
		p = NOT_NULL(ash_resize(p, size));
		touch(p, size);
	}
	ash_release(p);
	rt_print("     %zu KiB retained\n", retained() / KIB);
	CHECK(retained() <= ash_defaults.retain); /* the last step alone is more */
	if (figures())
		CHECK(rt_anonymous() <= base + 8 * MIB);
}

/* The same by the program's own copies, as std::vector grows: what a step leaves does not serve the next one. */
TEST(keep_no_ladder_of_copies, 20)
{
	size_t most = scaled(200 * MIB, 24 * MIB), size = MIB, base;
	unsigned char *p = filled(size), *next;

	base = rt_anonymous();
	for (; size < most; size += size / 2) {
		next = filled(size + size / 2);
		ash_release(p);
		p = next;
	}
	rt_print("     %zu KiB retained beside %zu\n", retained() / KIB, size / KIB);
	CHECK(retained() <= size / 4 + ash_defaults.retain);
	ash_release(p);
	rt_print("     %zu KiB retained\n", retained() / KIB);
	CHECK(retained() <= 2 * ash_defaults.retain);
	if (figures())
		CHECK(rt_anonymous() <= base + 2 * ash_defaults.retain + 8 * MIB);
}

/* ---- phases, each of which fills small blocks and releases all of them at its end ---- */

enum { PHASES = 8, WARM = 3, PIECE = 256 };

static void phase(unsigned char **p, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		p[i] = NOT_NULL(ash_alloc(16 + i * 37 % (2 * PIECE - 31)));
		p[i][0] = 1;
	}
	release_each(p, count);
}

/* What a phase released is there for the next one, from the third on: it came again. */
static void phases(size_t bytes)
{
	size_t count = bytes / PIECE;
	unsigned char **p = rt_map(count * sizeof(*p));
	unsigned long before = 0;

	CHECK(p != NULL);
	for (int i = 0; i < PHASES; i++) {
		if (i == WARM)
			before = rt_faults();
		phase(p, count);
		CHECK(i + 1 < WARM || stats_now().dirty >= bytes / 10 * 9);
	}
	/* Under QEMU faults are the emulator's. */
	if (!rt_under_qemu())
		CHECK(rt_faults() - before < 100);
	rt_unmap(p, count * sizeof(*p));
	CHECK_EQ(ash_check(), 0);
}

TEST_CALL(keep_small_phases, 20, phases(14 * MIB));
TEST_CALL(keep_phases, 20, phases(48 * MIB));
TEST_CALL(keep_large_phases, 60, phases(200 * MIB));

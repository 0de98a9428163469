/* SPDX-License-Identifier: MIT */
/* A program of phases, each of which fills small blocks and releases all of them at its end. */
/* promises: ash_alloc, ash_release */
#include "support/blocks.h"

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

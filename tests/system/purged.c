/* SPDX-License-Identifier: MIT */
/* A system that takes memory back: purged memory reads zero, and memory that it refuses stays in use. */
/* promises: ash_system_purge, ash_system_unmap */
#include "ashlar.h"
#include "ashlar_system.h"
#include "support/pattern.h"

static bool purges;
static size_t purged, refused;

bool ash_system_purge(void *p, size_t bytes)
{
	if (!purges)
		return false;
	CHECK((uintptr_t)p % 4096 == 0 && bytes % 4096 == 0 && bytes > 0);
	memset(p, 0, bytes);
	purged += bytes;
	return true;
}

bool ash_system_unmap(void *p, size_t bytes)
{
	CHECK((uintptr_t)p % 4096 == 0 && bytes % 4096 == 0 && bytes > 0);
	refused += bytes;
	return false;
}

enum { BYTES = 5 * MIB };

static void zeroes_again(void)
{
	for (unsigned i = 0; i < 3; i++) {
		unsigned char *p = NOT_NULL(ash_zalloc(1, BYTES));

		for (size_t k = 0; k < BYTES; k++)
			CHECK(p[k] == 0);
		memset(p, 7, BYTES);
		ash_release(p);
		if (purges)
			(void)ash_trim(0);
	}
}

/* Nothing was given back, so written memory is cleared. */
TEST_CALL(system_zeroes_again, 20, zeroes_again());

TEST(system_purges, 20)
{
	purges = true;
	zeroes_again();
	rt_print("     %zu KiB purged, %zu KiB not unmapped\n", purged / KIB, refused / KIB);
	CHECK(purged >= BYTES && refused >= BYTES);
	CHECK_EQ(ash_check(), 0);
}

/* SPDX-License-Identifier: MIT */
/* Lives (store/process/life.h) over starts of the system, which are told by a wrapper. */
#include "store/process/life.h"
#include "rt.h"
#include "support/wrap.h"

/* What the present start of the system is said to be. */
static uint64_t told_boot;
static bool boot_is_told;

WRAP(uint64_t, boot_number, (void))
{
	return boot_is_told ? told_boot : __real_boot_number();
}

enum { BOOT = 43, BOOT_BITS = 6 };

static uint64_t life_told(uint64_t boot)
{
	boot_is_told = true;
	told_boot = boot;
	return life_of_thread();
}

static uint64_t boot_in(uint64_t life)
{
	return life >> BOOT & ((1 << BOOT_BITS) - 1);
}

/* A start that is unknown, then or now, proves nothing; two that are known do, if their fields differ. */
TEST(starts_tell_lives_apart, 10)
{
	uint64_t of5 = life_told(5), of64, unknown;

	if (of5 >> 22 == 0)
		rt_skip("lives cannot be judged without /proc");
	CHECK_EQ(boot_in(of5), 5);
	CHECK(!life_thread_is_over(of5));
	unknown = life_told(0);
	CHECK_EQ(boot_in(unknown), 0);
	CHECK(!life_thread_is_over(of5) && !life_thread_is_over(unknown));
	(void)life_told(6);
	CHECK(life_thread_is_over(of5) && !life_thread_is_over(unknown));
	/* Known, though the low bits are all 0. */
	of64 = life_told(64);
	CHECK_EQ(boot_in(of64), 1);
	CHECK(!life_thread_is_over(of64) && life_thread_is_over(of5));
	(void)life_told(5);
	CHECK(life_thread_is_over(of64) && !life_thread_is_over(of5));
}

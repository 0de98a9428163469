/* SPDX-License-Identifier: MIT */
/*
 * A maker in another namespace begins to make a heap, and stops between the note of its namespaces and its claim.  A
 * claim of ours would be judged there, where no thread has that life: two would make the heap.  Nor is that
 * one waited for, as nothing of it is seen to change.
 */
/* promises: ash_heap_open_file, ash_heap_adopt_file */
#include "store/program/claim.h"

static bool begun;

static void begins_elsewhere(void)
{
	uint64_t head[4] = {CLAIM_MAKING, 0, 0, world_now() ^ 1}, there[4] = {0};

	CHECK(arch_pread64(file, there, sizeof there, 0) >= 0);
	begun = there[0] == 0;
	if (begun)
		CHECK(arch_ftruncate(file, PAGE_MOST) == 0 && arch_pwrite64(file, head, sizeof head, 0) == sizeof head);
}

/* The wait has an end. */
static void looks_on(void)
{
	static unsigned looks;

	CHECK(looks++ < CLAIM_PATIENCE);
}

TEST(claim_begun_elsewhere, 20)
{
	size_t k, count, met = 0;
	enum outcome made;
	int end;

	by_open = true;
	paused = looks_on;
	count = calls_of_one();
	for (k = 1; k <= count; k = next_call(k)) {
		begin();
		stop_at = k;
		end = rt_wait(CHILD(stopped = begins_elsewhere; made = make_one();
				    CHECK_EQ(made, begun ? UNFINISHED : MADE); rt_exit(begun)));
		CHECK(end <= 1);
		met += (size_t)end;
		CHECK(ash_heap_adopt_file(file));
		CHECK(make_beside() <= ATTACHED);
		arch_close(file);
	}
	rt_print("     %zu calls, begun at %zu\n", count, met);
	CHECK(met > 0 && met < count);
}

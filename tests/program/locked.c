/* SPDX-License-Identifier: MIT */
/* Locked memory, and calls of other threads while memory is being given back. */
/* promises: ash_release, ash_trim */
#include "program/audit.h"
#include "program/faults.h"
#include "support/blocks.h"
#include "syscall.h"

/* Locked for real; the kernel refuses to purge it. */
static void lock_and_reuse(size_t size, size_t from, size_t bytes)
{
	unsigned char *p = ash_alloc(size), *other = ash_alloc(size);

	CHECK(p != NULL && other != NULL);
	if (arch_mlock((void *)(((uintptr_t)p + from) & ~(uintptr_t)4095), bytes) != 0)
		rt_skip("mlock is refused here");
	for (int i = 0; i < 3; i++) {
		memset(p, 0xa5, ash_usable_size(p));
		ash_release(p);
		ash_trim(1);
		audit();
		p = ash_zalloc(1, size);
		holds(p, size, 0);
	}
	/* Pages of it that move to elsewhere. */
	memset(p, 0x5a, size);
	p = NOT_NULL(ash_resize(p, size * 3));
	holds(p, size, 0x5a);
	ash_release(p);
	p = ash_zalloc(3, size);
	holds(p, 3 * size, 0);
	ash_release(p);
	ash_release(other);
	ash_trim(0);
	audit();
}

TEST_CALL(advice_locked_span, 60, lock_and_reuse(5 * MIB, 0, 5 * MIB));
TEST_CALL(advice_locked_part_of_span, 60, lock_and_reuse(5 * MIB, 3 * MIB + 70000, 4096));

TEST(advice_locked_slabs, 60)
{
	lock_and_reuse(300000, 0, 300000);
	lock_and_reuse(5000, 0, 1);
}

/* A heap that may not give back must not ask at each release again. */
TEST(advice_refused_is_not_asked_forever, 60)
{
	enum { BLOCKS = 400 };
	static unsigned char *p[BLOCKS];
	size_t calls;

	faults.advice_error = -FAULT_EINVAL;
	for (int i = 0; i < BLOCKS; i++)
		p[i] = NOT_NULL(ash_alloc(MIB / 2));
	faults.armed = true;
	release_each(p, BLOCKS);
	calls = faults.calls;
	rt_print("     %zu system calls for %d releases\n", calls, (int)BLOCKS);
	CHECK(calls < (size_t)20 * BLOCKS);
}

/*
 * While a chunk's free units are held for purging, another thread finds none
 * and drops the hint that there are some.  They must be found again.
 */
static void allocate_meanwhile(UNUSED void *argument)
{
	ash_release(ash_alloc(900000));
}

static unsigned char *stays;

static bool in_chunk_of_stays(const void *p)
{
	return ((uintptr_t)p ^ (uintptr_t)stays) < CHUNK_SIZE;
}

static void another_thread(void *address)
{
	if (!in_chunk_of_stays(address))
		return;
	faults.in_advice = NULL;
	rt_in_thread(allocate_meanwhile, NULL);
}

TEST(advice_purge_loses_no_units, 60)
{
	unsigned char *p[2], *q;
	struct ash_statistics before;

	/* One chunk, full; then all of it free and dirty but for one block. */
	stays = NOT_NULL(ash_alloc(30000));
	p[0] = NOT_NULL(ash_alloc(900000));
	p[1] = NOT_NULL(ash_alloc(900000));
	while ((q = ash_alloc(30000)) != NULL && in_chunk_of_stays(q))
		;
	ash_release(q);
	memset(p[0], 1, 900000);
	memset(p[1], 1, 900000);
	ash_release(p[0]);
	ash_release(p[1]);
	ash_trim(SIZE_MAX); /* slabs go back, nothing is purged */
	faults.in_advice = another_thread;
	ash_trim(1);
	CHECK(faults.in_advice == NULL);
	audit();
	ash_stats(&before);
	q = NOT_NULL(ash_alloc(900000));
	CHECK(in_chunk_of_stays(q));
	CHECK_EQ(before.reserved, stats_now().reserved);
}

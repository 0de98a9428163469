/* SPDX-License-Identifier: MIT */
/*
 * Looks have no effect on the target: the same work twice, in children of one process, where
 * addresses are the same; once looked at all the time.  It makes the same system calls, gets the
 * same blocks, and leaves the same heap.
 */
/* promises: ash_alloc, ash_release */
#include "program/look_target.h"
#include "support/wrap.h"

enum { CALLS = 5, KEPT = 3000, STEPS = 150000, PARTS = 10 };

/* Calls so far, by this process; what they returned goes into the sum. */
static uint64_t calls[CALLS], sum;
static bool looked_at;

static void add(uint64_t word)
{
	sum = (sum ^ word) * 1099511628211u; /* FNV-1a */
}

#define COUNT(number, call)                                                                        \
	WRAP(long, arch_##call, (long a, long b, long c, long d, long e, long f))                  \
	{                                                                                          \
		long r = __real_arch_##call(a, b, c, d, e, f);                                     \
		calls[number]++;                                                                   \
		add((uint64_t)r);                                                                  \
		return r;                                                                          \
	}
COUNT(0, mmap)
COUNT(1, munmap)
COUNT(2, madvise)
COUNT(3, mremap)
COUNT(4, mincore)

static void part(struct rt_random *r, void **kept)
{
	unsigned i;

	for (i = 0; i < STEPS / PARTS; i++) {
		void **p = &kept[rt_below(r, KEPT)];
		size_t size = rt_below(r, (size_t)8 << rt_below(r, 17)) + 1;

		ash_release(*p);
		*p = NOT_NULL(ash_alloc(size));
		memset(*p, 1, size < 3000 ? size : 3000);
		add((uintptr_t)*p);
	}
}

/* Part by part, so that each look of the second run meets work. */
static void worker(void)
{
	static void *kept[KEPT];
	struct rt_random r;
	unsigned i;

	rt_seed(&r, 1);
	book->ready = looked_at; /* else target_start looks when the work is done */
	for (i = 0; i < PARTS; i++) {
		part(&r, kept);
		add(ash_trim(0));
	}
	ash_stats(&book->stats);
	memcpy(book->taken, calls, sizeof calls);
	book->operations = sum;
	book->done = 1;
	book->ready = 1;
	book_wait(&book->go);
}

TEST(look_has_no_effect, 60)
{
	struct book first;
	unsigned looks = 0;
	long pid;

	if (rt_under_qemu())
		rt_skip("mappings of the emulator come between");
	book_make();
	pid = target_start(worker);
	while (!book->done)
		rt_sleep(500000);
	memcpy(&first, book, sizeof first);
	book->go = 1;
	CHECK_EQ(rt_wait(pid), 0);
	memset(book, 0, sizeof *book);
	looked_at = true;
	pid = target_start(worker);
	do {
		CHECK_EQ(look_process(pid, looks % 2 == 0 ? "--json" : "--blocks"), 0);
		looks++;
	} while (!book->done);
	book->go = 1;
	CHECK_EQ(rt_wait(pid), 0);
	for (unsigned i = 0; i < CALLS; i++)
		CHECK_EQ(first.taken[i], book->taken[i]);
	CHECK_EQ(first.operations, book->operations);
	CHECK(first.taken[0] > 0 && first.taken[2] > 0 && looks > 0);
	CHECK(memcmp(&first.stats, &book->stats, sizeof first.stats) == 0);
}

/* SPDX-License-Identifier: MIT */
/*
 * What threads allocate and others release, while the former sleep, goes back as it is released.  A burst
 * that comes again keeps its pages.
 */
/* promises: ash_release */
#include "support/resident.h"

enum { THREADS = 8 };

struct burst {
	struct rt_barrier all;
	size_t least, most, bytes, count[THREADS], peak;
	unsigned rounds;
	unsigned char **block[THREADS];
};
static struct burst burst;

/* Reads zero, as what was purged comes back; written from end to end. */
static unsigned char *zeroed(size_t bytes)
{
	unsigned char *p = NOT_NULL(ash_zalloc(1, bytes));

	for (size_t i = 0; i < bytes; i += 64)
		CHECK_EQ(p[i], 0);
	memset(p, 1, bytes);
	return p;
}

/* Each thread fills blocks, and releases those of its neighbour. */
static void neighbour(void *argument)
{
	size_t me = (size_t)(uintptr_t)argument, next = (me + 1) % THREADS, i, done;
	struct rt_random random;

	for (unsigned round = 0; round < burst.rounds; round++) {
		rt_seed(&random, me + 1);
		for (i = done = 0; done < burst.bytes / THREADS; i++) {
			size_t size = burst.least + rt_below(&random, (unsigned)(burst.most - burst.least + 1));

			burst.block[me][i] = zeroed(size);
			done += size;
		}
		burst.count[me] = i;
		rt_barrier_wait(&burst.all);
		for (i = 0; i < burst.count[next]; i++)
			ash_release(burst.block[next][i]);
		rt_barrier_wait(&burst.all);
		/* The main thread looks; all sleep. */
		rt_barrier_wait(&burst.all);
	}
}

static void bursts(size_t least, size_t most, unsigned rounds)
{
	size_t base, entries, left = 0, after = 0;
	struct rt_thread *thread[THREADS];
	unsigned long before, faults = 0, worst = 0;

	burst = (struct burst){.all = {.count = THREADS + 1}, .least = least, .most = most, .rounds = rounds};
	burst.bytes = scaled(144 * MIB, 24 * MIB);
	entries = burst.bytes / THREADS / least + 1;
	for (size_t i = 0; i < THREADS; i++) {
		burst.block[i] = NOT_NULL(rt_map(entries * sizeof(*burst.block[i])));
		memset(burst.block[i], 0, entries * sizeof(*burst.block[i]));
	}
	ash_release(ash_alloc(100));
	base = rt_anonymous();
	for (size_t i = 0; i < THREADS; i++)
		thread[i] = rt_thread_start(neighbour, (void *)i);
	for (unsigned round = 0; round < rounds; round++) {
		before = rt_faults();
		rt_barrier_wait(&burst.all);
		rt_barrier_wait(&burst.all);
		left = rt_anonymous() - base;
		for (int i = 0; rounds == 1 && i < 1000; i++)
			ash_release(ash_alloc(100));
		after = rt_anonymous() - base;
		rt_print("     round %u: %zu KiB, after small pairs %zu KiB\n", round, left / KIB, after / KIB);
		if (round == 0 && figures()) {
			CHECK(left <= 32 * MIB);
			if (rounds == 1) { /* beside records, stacks and current slabs */
				(void)ash_trim(0);
				CHECK(after <= rt_anonymous() - base + 12 * MIB);
			}
		}
		if (round >= 2) {
			unsigned long more = rt_faults() - before;

			faults += more;
			worst = more > worst ? more : worst;
		}
		rt_barrier_wait(&burst.all);
	}
	for (size_t i = 0; i < THREADS; i++) {
		rt_thread_join(thread[i]);
		rt_unmap(burst.block[i], entries * sizeof(*burst.block[i]));
	}
	rt_print("     %zu to %zu bytes: %lu faults from the third round on, %lu of them in one\n", least, most,
		 faults, worst);
	/*
	 * In ten bursts.  Of different sizes, as each burst lies elsewhere, some without this, too.  The floor
	 * is made of hints: threads that change it at one moment may lose a part of one burst, once.
	 */
	if (rounds > 2 && figures()) {
		CHECK(worst < burst.bytes / PAGE / 2);
		CHECK(faults - worst < burst.bytes / PAGE / (least == most ? 16 : 3));
	}
	CHECK_EQ(ash_check(), 0);
}

#define BURSTS(name, ...) TEST(name, 30) { bursts(__VA_ARGS__); }
BURSTS(keep_no_foreign_500, 500, 500, 1)
BURSTS(keep_no_foreign_3000, 3000, 3000, 1)
BURSTS(keep_no_foreign_8000, 8000, 8000, 1)
BURSTS(keep_no_foreign_mixed, 20000, 100000, 1)
BURSTS(keep_foreign_again_500, 500, 500, 12)
BURSTS(keep_foreign_again_8000, 8000, 8000, 12)
BURSTS(keep_foreign_again_100000, 100000, 100000, 12)
BURSTS(keep_foreign_again_mixed, 20000, 100000, 12)

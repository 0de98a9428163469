/* SPDX-License-Identifier: MIT */
/*
 * A peak that comes again keeps its pages for a while, whichever thread releases it; the memory that others
 * release while its owner sleeps, and the holes between live blocks, go back without a call for that.
 */
/* promises: ash_alloc, ash_release */
#include "support/blocks.h"
#include "support/resident.h"

static size_t retained(void)
{
	return stats_now().dirty;
}

/* ---- by one thread ---- */

/* From the third time on no page is faulted in again, but for one chunk. */
static void comes_again(size_t size)
{
	size_t bytes = scaled(100 * MIB, 24 * MIB), count = bytes / size, i;
	unsigned char **p = NOT_NULL(rt_map(count * sizeof(*p)));
	unsigned long before = 0;

	for (int round = 0; round < 12; round++) {
		if (round == 2)
			before = rt_faults();
		for (i = 0; i < count; i++)
			p[i] = filled(size);
		release_each(p, count);
	}
	rt_print("     %zu-byte blocks: %lu faults\n", size, rt_faults() - before);
	CHECK(!figures() || rt_faults() - before < 200 + 2 * MIB / PAGE);
	CHECK(retained() > bytes / 2);
	/* But not for ever: fast calls are enough. */
	for (i = 0; i < 100000; i++)
		ash_release(ash_alloc(100));
	CHECK(retained() <= ash_defaults.retain);
	/* And a peak that is not needed again is forgotten. */
	for (i = 0; i < 300000; i++)
		ash_release(ash_alloc(40000));
	for (i = 0; i < count; i++)
		p[i] = filled(size);
	release_each(p, count);
	CHECK(retained() <= ash_defaults.retain / 2 || retained() <= bytes / 4);
	CHECK_EQ(ash_check(), 0);
}

TEST_CALL(keep_a_peak_again_of_64, 20, comes_again(64));
TEST_CALL(keep_a_peak_again_of_1000, 20, comes_again(1000));
TEST_CALL(keep_a_peak_again_of_100000, 20, comes_again(100000));
TEST_CALL(keep_a_peak_again_of_900000, 20, comes_again(900000));
TEST_CALL(keep_a_peak_again_of_5000000, 20, comes_again(5000000));

/* ---- whole free pages between live blocks ---- */

enum { KEPT_OF = 20 };

struct peak {
	void **blocks;
	size_t n;
};

static struct peak peak_take(size_t bytes, size_t size)
{
	struct peak p = {NULL, bytes / size};

	p.blocks = NOT_NULL(ash_zalloc(p.n, sizeof *p.blocks));
	alloc_each(p.blocks, p.n, size);
	for (size_t i = 0; i < p.n; i++)
		memset(p.blocks[i], 1, size);
	return p;
}

/* In the order of allocation; one block in KEPT_OF stays. */
static void peak_thins(struct peak *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (i % KEPT_OF != 0) {
			ash_release(p->blocks[i]);
			p->blocks[i] = NULL;
		}
}

static void peak_ends(struct peak *p)
{
	release_each(p->blocks, p->n);
	ash_release(p->blocks);
}

/* The pages of live blocks stay, a quarter of those, and the part of the heap that the hand saw before. */
static void holes_go(size_t size)
{
	size_t bytes = scaled(160 * MIB, 40 * MIB), before, live, resident;
	struct peak p;

	ash_release(ash_alloc(1));
	before = rt_anonymous();
	p = peak_take(bytes, size);
	live = p.n / KEPT_OF * (PAGE + size);
	peak_thins(&p);
	resident = rt_anonymous() - before;
	rt_print("     %zu-byte blocks: %zu KiB live, %zu KiB resident\n", size, live / KIB, resident / KIB);
	CHECK(!figures() || resident <= live + live / 2 + bytes / 8 + ash_defaults.retain);
	for (size_t i = 0; i < p.n; i += KEPT_OF)
		for (size_t k = 0; k < size; k++)
			CHECK_EQ(((unsigned char *)p.blocks[i])[k], 1);
	peak_ends(&p);
	CHECK_EQ(ash_check(), 0);
}

TEST_CALL(keep_no_holes_of_512, 20, holes_go(512));
TEST_CALL(keep_no_holes_of_6000, 20, holes_go(6000));

/* ---- blocks that a neighbour releases ---- */

enum { THREADS = 8 };

static struct burst {
	struct rt_barrier all;
	size_t least, most, bytes, count[THREADS];
	unsigned rounds;
	unsigned char **block[THREADS];
} burst;

/* Each thread fills blocks, which read zero, and releases those of its neighbour. */
static void neighbour(void *argument)
{
	size_t me = (size_t)(uintptr_t)argument, next = (me + 1) % THREADS, i, done;
	struct rt_random random;

	for (unsigned round = 0; round < burst.rounds; round++) {
		rt_seed(&random, me + 1);
		for (i = done = 0; done < burst.bytes / THREADS; i++) {
			size_t size = burst.least + rt_below(&random, (unsigned)(burst.most - burst.least + 1));
			unsigned char *p = NOT_NULL(ash_zalloc(1, size));

			for (size_t k = 0; k < size; k += 64)
				CHECK_EQ(p[k], 0);
			memset(p, 1, size);
			burst.block[me][i] = p;
			done += size;
		}
		burst.count[me] = i;
		rt_barrier_wait(&burst.all);
		release_each(burst.block[next], burst.count[next]);
		rt_barrier_wait(&burst.all);
		/* The main thread looks; all sleep. */
		rt_barrier_wait(&burst.all);
	}
}

static void burst_goes(size_t base)
{
	size_t left = rt_anonymous() - base, after;

	for (int i = 0; i < 1000; i++)
		ash_release(ash_alloc(100));
	after = rt_anonymous() - base;
	rt_print("     %zu KiB, after small pairs %zu KiB\n", left / KIB, after / KIB);
	if (!figures())
		return;
	CHECK(left <= 32 * MIB);
	(void)ash_trim(0);
	CHECK(after <= rt_anonymous() - base + 12 * MIB); /* beside records, stacks and current slabs */
}

static void bursts(size_t least, size_t most, unsigned rounds)
{
	struct rt_thread *thread[THREADS];
	unsigned long before, more, faults = 0, worst = 0;
	size_t base, entries;

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
		thread[i] = NOT_NULL(rt_thread_start(neighbour, (void *)i));
	for (unsigned round = 0; round < rounds; round++) {
		before = rt_faults();
		rt_barrier_wait(&burst.all);
		rt_barrier_wait(&burst.all);
		if (rounds == 1)
			burst_goes(base);
		more = round < 2 ? 0 : rt_faults() - before;
		faults += more;
		worst = more > worst ? more : worst;
		rt_barrier_wait(&burst.all);
	}
	rt_threads_join(thread, THREADS);
	rt_print("     %zu to %zu bytes: %lu faults from the third round on, %lu of them in one\n", least, most,
		 faults, worst);
	/*
	 * In ten bursts.  Blocks of different sizes fault even without this, because each burst lies elsewhere.
	 * The floor is made of hints: threads that change it at one moment may lose a part of one burst, once.
	 */
	if (rounds > 2 && figures()) {
		CHECK(worst < burst.bytes / PAGE / 2);
		CHECK(faults - worst < burst.bytes / PAGE / (least == most ? 16 : 3));
	}
	CHECK_EQ(ash_check(), 0);
}

TEST_CALL(keep_no_foreign_500, 30, bursts(500, 500, 1));
TEST_CALL(keep_no_foreign_8000, 30, bursts(8000, 8000, 1));
TEST_CALL(keep_no_foreign_mixed, 30, bursts(20000, 100000, 1));
TEST_CALL(keep_foreign_again_500, 30, bursts(500, 500, 12));
TEST_CALL(keep_foreign_again_8000, 30, bursts(8000, 8000, 12));
TEST_CALL(keep_foreign_again_mixed, 30, bursts(20000, 100000, 12));

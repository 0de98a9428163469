/* SPDX-License-Identifier: MIT */
/*
 * One recovery returns the memory of the dead, whatever the living do: builders that stand stopped, with what they hold, and
 * processes that build all the time.
 */
#include "store/recover/recover.h"

#include "backend/region.h"
#include "backend/units.h"
#include "front/span.h"
#include "slab/slab.h"
#include "slab/unowned.h"
#include "store/recover/builders.h"
#include "syscall.h"

#include "store/inner/shared.h" /* last: its names are short */

enum { SIGKILL = 9, SIGCONT = 18, SIGSTOP = 19, MOST = 16, CAPACITY = 128, BLOCK = 2 * MIB };

static struct control {
	uint64_t ready, go, done, round[MOST];
} *control;

/* So many blocks of a chunk can be had. */
static size_t fit(void)
{
	static void *p[CAPACITY + 1];
	size_t n = 0, i;

	while (n < CAPACITY && (p[n] = ash_heap_alloc(heap, BLOCK)) != NULL)
		n++;
	for (i = 0; i < n; i++)
		ash_heap_release(heap, p[i]);
	return n;
}

/* A process dies with what a builder may hold. */
static void dies(unsigned way)
{
	IN_KILLED_CHILD {
		struct owner *o = shared_record(heap);
		void *p = way == 4 ? ash_heap_alloc(heap, 300000) : NULL;
		struct slab *s;

		(void)building_begin(h, way % 2 == 0 ? o : NULL);
		switch (way) {
		case 0:
		case 1:
			CHECK(region_claim(h, way + 1, 1, true).region != NULL);
			break;
		case 2:
			CHECK(span_alloc(h, BLOCK + 1, 1, false) != NULL);
			break;
		case 3:
			CHECK(unowned_slot(h, class_of(100)) != NULL);
			break;
		case 4:
			CHECK(slab_find(map_find(p), p, &s));
			(void)slab_close(s);
			break;
		default:
			CHECK(units_claim(h, units_for(class_of(100), 1), true, false).chunk != NULL);
		}
	}
}

static void many_die(unsigned n)
{
	while (n-- > 0)
		dies(n % 6);
}

/* ---- builders that stand stopped ---- */

static void child_begins(void)
{
	enum { PR_SET_PDEATHSIG = 1 };

	arch_prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

static void await(uint64_t *word, uint64_t n)
{
	while (load_acquire(word) < n)
		rt_yield();
}

static long builder_start(unsigned i)
{
	long pid = rt_fork();
	struct building b;
	struct units u;
	struct run run;

	if (pid != 0)
		return pid;
	child_begins();
	b = building_begin(h, i % 2 == 0 ? shared_record(heap) : NULL);
	run = region_claim(h, 1, 1, true);
	u = units_claim(h, units_for(class_of(100), 1), true, false);
	CHECK(run.region != NULL && u.chunk != NULL);
	fetch_add_acq_rel(&control->ready, 1);
	await(&control->go, 1);
	/* Nobody had it meanwhile. */
	CHECK(!bits_all(run.region->free, run.first, 1) && run_chunk(run)->kind == CHUNK_FREE);
	CHECK((load_acquire(&u.chunk->units) >> u.first & 1) == 0 && u.chunk->head[u.first] == 0);
	heap_soiled(h, CHUNK_UNITS);
	region_give(run, 1, LEFT_DIRTY);
	units_give(h, u);
	building_end(b);
	rt_exit(0);
}

static void beside_stopped(unsigned builders)
{
	long pid[MOST];
	size_t all;
	unsigned i;

	shared_make(CAPACITY * CHUNK_SIZE);
	needs_lives();
	control = ash_heap_zalloc(heap, 1, sizeof *control);
	all = fit();
	CHECK_EQ(all, CAPACITY - 1);
	for (i = 0; i < builders; i++)
		pid[i] = builder_start(i);
	await(&control->ready, builders);
	for (i = 0; i < builders; i++)
		CHECK_EQ(arch_kill(pid[i], SIGSTOP), 0);
	many_die(60);
	(void)ash_heap_recover(heap);
	/* A chunk each, and units in a common one. */
	CHECK(fit() >= all - builders - 1);
	many_die(60);
	(void)ash_heap_recover(heap);
	CHECK(fit() >= all - builders - 1);
	/* One dies as it stands, the others go on. */
	CHECK_EQ(arch_kill(pid[0], SIGKILL), 0);
	(void)rt_wait(pid[0]);
	store_release(&control->go, 1);
	for (i = 1; i < builders; i++) {
		CHECK_EQ(arch_kill(pid[i], SIGCONT), 0);
		CHECK_EQ(rt_wait(pid[i]), 0);
	}
	(void)ash_heap_recover(heap);
	CHECK_EQ(fit(), all);
	CHECK_EQ(store_lost(store), 0);
	CHECK_EQ(ash_heap_check(heap), 0);
}

TEST_CALL(inner_lost_beside_a_stopped_builder, 60, beside_stopped(1));
TEST_CALL(inner_lost_beside_stopped_builders, 60, beside_stopped(MOST));

/* ---- processes that build all the time ---- */

static void work(unsigned i, const size_t *size)
{
	unsigned char *p = ash_heap_alloc(heap, *size);
	size_t at;

	for (at = 0; p != NULL && at < *size; at += 4096)
		p[at] = (unsigned char)i;
	for (at = 0; p != NULL && at < *size; at += 4096)
		CHECK_EQ(p[at], i);
	ash_heap_release(heap, p);
}

/* Nearly all the time its record says that it builds. */
static long worker_start(unsigned i)
{
	static const size_t sizes[] = {1200000, 100, 30000, 300000, 1000000};
	long pid = rt_fork();
	unsigned n = i;

	if (pid != 0)
		return pid;
	child_begins();
	while (load_acquire(&control->done) == 0) {
		struct building b = building_begin(h, shared_record(heap));
		unsigned step;

		for (step = 0; step < 64; step++)
			work(i, &sizes[n++ % 5]);
		building_end(b);
		fetch_add_acq_rel(&control->round[i], 1);
	}
	rt_exit(0);
}

TEST(inner_lost_beside_working_processes, 120)
{
	enum { WORKERS = 8, TIMES = 4 };
	long pid[WORKERS];
	unsigned i, n;
	size_t all;

	shared_make(CAPACITY * CHUNK_SIZE);
	needs_lives();
	control = ash_heap_zalloc(heap, 1, sizeof *control);
	all = fit();
	for (i = 0; i < WORKERS; i++)
		pid[i] = worker_start(i);
	for (n = 1; n <= TIMES; n++) {
		for (i = 0; i < WORKERS; i++)
			await(&control->round[i], n);
		many_die(30);
		(void)ash_heap_recover(heap);
		CHECK(fit() >= all - 2 * WORKERS);
	}
	store_release(&control->done, 1);
	for (i = 0; i < WORKERS; i++)
		CHECK_EQ(rt_wait(pid[i]), 0);
	(void)ash_heap_recover(heap);
	CHECK_EQ(fit(), all);
	CHECK_EQ(ash_heap_check(heap), 0);
}

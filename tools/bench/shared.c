/* SPDX-License-Identifier: MIT */
/*
 * What a heap costs that processes share.  Built from this file: without a libc on Ashlar's
 * heaps, and hosted on Boost.Interprocess's managed_shared_memory (C++, -DBOOST) or
 * managed_mapped_file (-DBOOST -DMAPPED), on rts-alloc (-DRTS), and on libpmemobj (-DPMEMOBJ), whose pools
 * are for one process at a time; and on arenas of mimalloc (-DMIMALLOC) and jemalloc (-DJEMALLOC) over a
 * shared mapping, which are for one process.
 *
 *	shared batch HEAP           1000 x 128 B allocated, then released
 *	shared random HEAP [short]  10 000 live blocks of 8 B ... 1 KiB, replaced at random
 *	shared exact [short]        four processes on one heap, 10^6 operations each: what one
 *	                            writes another releases, and the sums must agree
 *	shared pair N [short]       each of N processes: a block of 64 B allocated and released
 *	shared sizes N [short]      the same as random, in N processes
 *	shared publish N [short]    a block of 64 B comes into a word of the heap and is taken out and
 *	                            released, each in one step that a kill cannot divide
 *	shared replace N [short]    as sizes, but the blocks are named by words of the heap, and a new
 *	                            block replaces the old one in one step.  The peer, which has no such
 *	                            steps, stores the address after the allocation
 *	shared deaths MIB [short]   a heap of so many MiB in a file, a part of it filled; 100
 *	                            processes are killed in the midst of their calls, one after
 *	                            the other; then the times to attach and to allocate: the
 *	                            first one recovers, the second one finds nothing to do
 *	shared counted KIND         allocations and releases for callgrind (shared_counted.h)
 *	shared kills N              N processes are killed in a churn beside two that go on
 *
 * HEAP: default (ash_alloc), private (ash_heap_create) or shared.  The peer has only the last
 * two, and one kind of heap.
 *
 * Prints "name value unit" lines.  Time is that of the wall, from the moment when all are
 * ready until the last one is done, over all operations of all processes.
 */
#include <stdbool.h>
#include <stdint.h>

#include "random.h"

/* The process cannot go on: others are told why. */
static void fail(const char *why);
#include "shared.h"

enum { PROCESSES = 8, EXACT = 4, BATCH = 1000, LIVE = 10000, INBOX_WORDS = 512 };

/* Seen by all processes. */
struct worker {
	_Alignas(128) uint64_t started, ended, operations, given, taken;
};
static struct common {
	struct worker worker[PROCESSES];
	_Alignas(128) uint64_t ready;
	_Alignas(128) void *inbox[INBOX_WORDS];
	uint64_t stop, turn;
	char failed[16]; /* kills: why a process cannot go on */
	void **cells;	 /* kills: words of the heap that name blocks */
} * common;

static unsigned processes = 1, scale = 1; /* short runs: a tenth */
static uint64_t operations;

static uint64_t seed_of(const struct worker *w)
{
	return 88172645463325252u + (uint64_t)(w - common->worker) * 7919;
}

/* The compiler must neither drop a pair of calls nor the writes between them. */
static void keep(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

static void fail(const char *why)
{
	unsigned i;

	for (i = 0; why[i] != '\0' && i + 1 < sizeof common->failed; i++)
		__atomic_store_n(&common->failed[i], why[i], __ATOMIC_RELAXED);
	leave(1);
}

static void begin(struct worker *w)
{
	(void)__atomic_fetch_add(&common->ready, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&common->ready, __ATOMIC_SEQ_CST) < processes)
		yield();
	w->started = now();
}

/* ---- the work ---- */

static void batch(struct worker *w)
{
	static void *p[BATCH];
	uint64_t round;
	int i;

	begin(w);
	for (round = 0; round < operations / BATCH; round++) {
		for (i = 0; i < BATCH; i++)
			p[i] = take(128);
		keep(p);
		for (i = 0; i < BATCH; i++)
			give(p[i]);
	}
	w->ended = now();
}

static void pair(struct worker *w)
{
	uint64_t n;

	give(take(64));
	begin(w);
	for (n = 0; n < operations; n++) {
		void *p = take(64);

		keep(p);
		give(p);
	}
	w->ended = now();
}

static void *fresh(uint64_t random)
{
	void *p = take((size_t)(8 + random % 1017));

	*(volatile char *)p = 1;
	return p;
}

static void sizes(struct worker *w)
{
	static void *live[LIVE];
	uint64_t state = seed_of(w), n;

	for (n = 0; n < LIVE; n++)
		live[n] = fresh(next_random(&state) >> 20);
	begin(w);
	for (n = 0; n < operations; n++) {
		uint64_t random = next_random(&state);
		void **p = &live[(random & 0xffffffff) * LIVE >> 32];

		give(*p);
		*p = fresh(random >> 32);
	}
	w->ended = now();
	for (n = 0; n < LIVE; n++)
		give(live[n]);
}

static void publish(struct worker *w)
{
	void **slot = (void **)take_zeroed(sizeof *slot);
	uint64_t n;

	begin(w);
	for (n = 0; n < operations; n++) {
		take_into(slot, 64);
		keep(slot);
		give_from(slot);
	}
	w->ended = now();
	give(slot);
}

static void replace(struct worker *w)
{
	void **slot = (void **)take_zeroed(LIVE * sizeof *slot);
	uint64_t state = seed_of(w), n;

	for (n = 0; n < LIVE; n++)
		take_instead(&slot[n], (size_t)(8 + (next_random(&state) >> 20) % 1017));
	begin(w);
	for (n = 0; n < operations; n++) {
		uint64_t random = next_random(&state);

		take_instead(&slot[(random & 0xffffffff) * LIVE >> 32], (size_t)(8 + (random >> 32) % 1017));
	}
	w->ended = now();
	for (n = 0; n < LIVE; n++)
		give_from(&slot[n]);
	give(slot);
}

/* Writes a value, leaves it where any process finds it, and takes what was there. */
static void exact(struct worker *w)
{
	uint64_t state = seed_of(w), n;

	begin(w);
	for (n = 0; n < operations; n++) {
		uint64_t random = next_random(&state);
		uint64_t *p = (uint64_t *)take((size_t)(8 + (random >> 32) % 1017));

		*p = random;
		w->given += random;
		p = (uint64_t *)__atomic_exchange_n(&common->inbox[random % INBOX_WORDS], (void *)p,
						    __ATOMIC_ACQ_REL);
		if (p != NULL) {
			w->taken += *p;
			give(p);
		}
	}
	w->ended = now();
}

/* Per operation of all processes together, in picoseconds. */
static uint64_t run(void (*body)(struct worker *), uint64_t each)
{
	uint64_t first = UINT64_MAX, last = 0;
	unsigned i;

	operations = each / scale;
	for (i = 0; i < processes; i++)
		if (start_process()) {
			body(&common->worker[i]);
			leave(0);
		}
	for (i = 0; i < processes; i++)
		if (!process_ended_well())
			leave(1);
	for (i = 0; i < processes; i++) {
		struct worker *w = &common->worker[i];

		first = w->started < first ? w->started : first;
		last = w->ended > last ? w->ended : last;
	}
	return (last - first) * 1000 / (operations * processes);
}

static void picoseconds(const char *name, uint64_t n)
{
	print("%s-%u %llu ps\n", name, processes, (unsigned long long)n);
}

static int exact_sums(void)
{
	uint64_t given = 0, taken = 0;
	unsigned i;

	processes = EXACT;
	picoseconds("exact", run(exact, 1000000));
	for (i = 0; i < EXACT; i++) {
		given += common->worker[i].given;
		taken += common->worker[i].taken;
	}
	for (i = 0; i < INBOX_WORDS; i++) {
		uint64_t *p = (uint64_t *)common->inbox[i];

		if (p != NULL) {
			taken += *p;
			give(p);
		}
	}
	print("exact-sums %d equal\n", given == taken);
	print("exact-left %llu blocks\n", (unsigned long long)blocks_left());
	return given == taken && blocks_left() == 0 ? 0 : 1;
}

#include "shared_counted.h"
#include "shared_deaths.h"
#include "shared_kills.h"

static const struct {
	const char *name;
	void (*body)(struct worker *w);
	uint64_t operations;
} experiments[] = {
	{"batch", batch, 10000000},   {"random", sizes, 4000000},   {"pair", pair, 4000000}, {"sizes", sizes, 4000000},
	{"publish", publish, 2000000}, {"replace", replace, 2000000},
};

static int work(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *of = argc > 2 ? argv[2] : "";
	size_t i;

	if (argc > 1 && same(argv[argc - 1], "short"))
		scale = 10;
	common = (struct common *)common_memory(sizeof *common);
	if (common == NULL)
		return 1;
	if (same(what, "deaths") || same(what, "kills")) {
		int status = same(what, "deaths") ? deaths(number(of)) : kills(number(of));

		heap_remove();
		return status;
	}
	if (same(what, "counted"))
		return heap_open("1") && counted(of) ? 0 : 1;
	if (!heap_open(of))
		return 1;
	if (of[0] >= '1' && of[0] <= '0' + PROCESSES && of[1] == '\0')
		processes = (unsigned)(of[0] - '0');
	if (same(what, "exact"))
		return exact_sums();
	for (i = 0; i < sizeof experiments / sizeof *experiments; i++)
		if (same(what, experiments[i].name)) {
			picoseconds(what, run(experiments[i].body, experiments[i].operations / processes));
			return 0;
		}
	return 2;
}

#if defined BOOST || defined PMEMOBJ || defined RTS || defined MIMALLOC || defined JEMALLOC
int main(int argc, char **argv)
#else
int main(int argc, char **argv, __attribute__((unused)) char **envp)
#endif
{
	return work(argc, argv);
}

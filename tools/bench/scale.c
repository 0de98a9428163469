/* SPDX-License-Identifier: MIT */
/*
 * How the cost of calls grows with the heap, the threads, and the threads that ended, with
 * each malloc (host.h).
 *
 *	scale fill MIB SIZE     a heap of MIB MiB of untouched blocks of SIZE bytes, then all released
 *	scale other MIB         filled by 16 KiB, each second block released, filled again by 24 KiB
 *	scale again MIB         filled and released twice; the second time each block is grown
 *	scale replace MIB       MIB MiB of blocks of 33 KB to 1 MB, of which 20 000 are replaced at random
 *	scale span MIB          one block of MIB MiB: taken, grown from half of that, shrunk, released
 *	scale live N            N threads that wait, 20 blocks each, while the first one fills 256 MiB
 *	scale ended N           N threads that ended and left 20 blocks each, then the same
 *
 * Prints "name value unit" lines.  "alloc", "release": the mean time of a call, of the last
 * fill; "worst": the longest of all of them.  Each call is marked for count_plugin.c, which counts instructions.
 */
#include <stdatomic.h>

#include "host.h"
#include "random.h"

enum { LARGE_LEAST = 33000, LARGE_MOST = 1000000 };
enum { OWN = 20, FILL_MIB = 256, NAP = 20000000 /* ns */ };

/* See count_plugin.c; tools/bench/scale defines MARKED where the plugin knows the CPU. */
#ifdef MARKED
#define scale_mark(kind, end)                                                                      \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x5c, 0xa1, %c0, %c1" : : "i"(kind), "i"(end) : "memory")
#else
#define scale_mark(kind, end) __asm__ volatile("" : : : "memory")
#endif
enum { ALLOC, RELEASE, RESIZE };

struct sum {
	uint64_t all, worst, count;
};
static struct sum allocated, released, resized;

static void count(struct sum *s, uint64_t time)
{
	s->all += time;
	s->worst = time > s->worst ? time : s->worst;
	s->count++;
}

static void *timed_take(size_t size)
{
	uint64_t start = rt_now();
	void *p;

	scale_mark(ALLOC, 0);
	p = take(size);
	scale_mark(ALLOC, 1);
	count(&allocated, rt_now() - start);
	keep(p);
	return p;
}

static void timed_give(void *p)
{
	uint64_t start = rt_now();

	scale_mark(RELEASE, 0);
	give(p);
	scale_mark(RELEASE, 1);
	count(&released, rt_now() - start);
}

static void *timed_change(void *p, size_t size)
{
	uint64_t start = rt_now();

	scale_mark(RESIZE, 0);
	p = change(p, size);
	scale_mark(RESIZE, 1);
	count(&resized, rt_now() - start);
	return p;
}

static bool fill(void **all, size_t n, size_t size)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((all[i] = timed_take(size)) == NULL)
			return false;
	return true;
}

static void empty(void **all, size_t n, size_t step)
{
	size_t i;

	for (i = 0; i < n; i += step)
		timed_give(all[i]);
}

static void forget(void)
{
	allocated = released = (struct sum){0, 0, 0};
}

static void picoseconds(const char *name, uint64_t value)
{
	rt_print("%s %llu ps\n", name, (unsigned long long)value);
}

static void report(void)
{
	if (allocated.count != 0)
		picoseconds("alloc", allocated.all * 1000 / allocated.count);
	if (released.count != 0)
		picoseconds("release", released.all * 1000 / released.count);
	picoseconds("worst", 1000 * (allocated.worst > released.worst ? allocated.worst : released.worst));
	rt_print("resident %llu B\n", (unsigned long long)rt_resident());
}

/* ---- heaps ---- */

static bool heap_fill(void **all, size_t bytes, size_t size)
{
	bool filled = fill(all, bytes / size, size);

	if (filled)
		empty(all, bytes / size, 1);
	return filled;
}

static bool heap_other(void **all, size_t bytes)
{
	size_t n = bytes / (16 * KIB);

	if (!fill(all, n, 16 * KIB))
		return false;
	empty(all, n, 2);
	forget();
	return fill(all, bytes / 2 / (24 * KIB), 24 * KIB);
}

static bool heap_again(void **all, size_t bytes)
{
	size_t i, n = bytes / (16 * KIB);

	if (!heap_fill(all, bytes, 16 * KIB) || !fill(all, n, 8 * KIB))
		return false;
	forget();
	for (i = 0; i < n; i++)
		if ((all[i] = timed_change(all[i], 16 * KIB)) == NULL)
			return false;
	empty(all, n, 1);
	return true;
}

static bool heap_replace(void **all, size_t bytes)
{
	uint64_t state = 88172645463325252u;
	size_t n = 0, steps = 20000, filled = 0, size, i;

	while (filled < bytes) {
		size = LARGE_LEAST + next_random(&state) % (LARGE_MOST - LARGE_LEAST);
		if ((all[n] = take(size)) == NULL)
			return false;
		keep(all[n++]);
		filled += size;
	}
	while (steps-- > 0) {
		i = next_random(&state) % n;
		timed_give(all[i]);
		size = LARGE_LEAST + next_random(&state) % (LARGE_MOST - LARGE_LEAST);
		if ((all[i] = timed_take(size)) == NULL)
			return false;
	}
	return true;
}

static bool heap_span(size_t bytes)
{
	void *p = timed_take(bytes / 2);

	if (p != NULL && (p = timed_change(p, bytes)) != NULL && (p = timed_change(p, bytes / 4)) != NULL) {
		timed_give(p);
		if ((p = timed_take(bytes)) != NULL)
			timed_give(p);
	}
	return p != NULL;
}

/* ---- threads ---- */

static _Atomic unsigned there, over;
static uint64_t asleep = NAP; /* threads that never are to end sleep for longer than the process lives */

static void take_own(void)
{
	static const unsigned short sizes[] = {16, 48, 112, 256, 600, 1024, 3000, 8000, 16000, 30000};
	unsigned i;

	for (i = 0; i < OWN; i++)
		keep(take(sizes[i % (sizeof(sizes) / sizeof(*sizes))]));
}

static void body(__attribute__((unused)) void *argument)
{
	take_own();
	atomic_fetch_add(&there, 1);
	while (atomic_load(&over) == 0)
		rt_sleep(asleep);
}

/* They all are there at the same time, so each has a heap of its own. */
static bool threads_start(struct rt_thread **all, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if ((all[i] = rt_thread_start(body, NULL)) == NULL)
			return false;
	while (atomic_load(&there) < n)
		rt_sleep(NAP);
	return true;
}

static void threads_end(struct rt_thread **all, unsigned n)
{
	unsigned i;

	atomic_store(&over, 1);
	for (i = 0; i < n; i++)
		rt_thread_join(all[i]);
}

/* ---- the program ---- */

static size_t number(const char *text)
{
	size_t n = 0;

	while (*text >= '0' && *text <= '9')
		n = n * 10 + (size_t)(*text++ - '0');
	return n;
}

int main(int argc, char **argv, char **envp)
{
	const char *what = argc > 2 ? argv[1] : "";
	size_t n = argc > 2 ? number(argv[2]) : 0;
	bool live = rt_strcmp(what, "live") == 0, done = false;
	void **all = rt_map((live || *what == 'e' ? FILL_MIB * MIB / KIB : n * MIB / 512) * sizeof(void *));

	(void)envp;
	if (all == NULL)
		return 1;
	if (rt_strcmp(what, "fill") == 0) {
		done = heap_fill(all, n * MIB, argc > 3 ? number(argv[3]) : 16 * KIB);
	} else if (rt_strcmp(what, "other") == 0) {
		done = heap_other(all, n * MIB);
	} else if (rt_strcmp(what, "again") == 0) {
		done = heap_again(all, n * MIB);
	} else if (rt_strcmp(what, "replace") == 0) {
		done = heap_replace(all, n * MIB);
	} else if (rt_strcmp(what, "span") == 0) {
		done = heap_span(n * MIB);
	} else if (live || rt_strcmp(what, "ended") == 0) {
		struct rt_thread **threads = rt_map((n + 1) * sizeof(*threads));

		/* Longer where there are more: 10 000 that look each 20 ms would leave no time to others. */
		asleep = live ? (uint64_t)NAP * 100000 : (uint64_t)NAP * (1 + n / 100);
		done = threads != NULL && threads_start(threads, (unsigned)n);
		if (done && !live)
			threads_end(threads, (unsigned)n);
		done = done && heap_fill(all, FILL_MIB * MIB, KIB);
	} else {
		return 2;
	}
	if (!done) {
		rt_print("no memory\n");
		return 1;
	}
	report();
	rt_exit(0); /* threads may be asleep */
}

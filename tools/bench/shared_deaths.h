/* SPDX-License-Identifier: MIT */
/* shared.c: processes that are killed in a heap, and what the next ones wait for. */
#ifndef SHARED_DEATHS_H
#define SHARED_DEATHS_H

enum { DEATHS = 100, HELD = 200, FILLED = 64 << 20 };

static void *held[HELD];

static void be_killed(void)
{
	uint64_t state = seed_of(common->worker) + common->ready, n;

	if (!heap_again())
		leave(1);
	(void)__atomic_fetch_add(&common->ready, 1, __ATOMIC_SEQ_CST);
	for (n = 0;; n++) {
		uint64_t random = next_random(&state);
		void **p = &held[n % HELD];

		if (*p != NULL)
			give(*p);
		*p = take((size_t)(8 + (random >> 32) % 4000));
	}
}

/* Blocks of up to 4 KiB, in half of the heap, but at most FILLED. */
static void be_filled(size_t capacity)
{
	uint64_t state = 1;
	size_t filled = capacity / 2 < FILLED ? capacity / 2 : FILLED, n, at;

	if (!heap_make(capacity))
		leave(1);
	for (at = 0; at < filled; at += n) {
		n = (size_t)(8 + (next_random(&state) >> 20) % 4000);
		*(volatile char *)take(n) = 1;
	}
	heap_leave();
	leave(0);
}

static void be_attached(struct worker *w)
{
	w->started = now();
	if (!heap_again())
		leave(1);
	give(take(64));
	w->ended = now();
	heap_leave();
	leave(0);
}

/* -1: it did not end in some seconds, as a lock is held by the dead. */
static long long attach_time(struct worker *w)
{
	w->ended = 0;
	if (start_process()) {
		end_after(5);
		be_attached(w);
	}
	if (!process_ended_well() || w->ended == 0)
		return -1;
	return (long long)(w->ended - w->started);
}

static void attached(const char *what, size_t mib)
{
	long long time = attach_time(common->worker);

	if (time >= 0)
		print("%s-%llu %lld ns\n", what, (unsigned long long)mib, time);
	print("%s-%llu-works %d yes\n", what, (unsigned long long)mib, time >= 0);
}

static size_t number(const char *of)
{
	size_t n = 0;

	for (; *of >= '0' && *of <= '9'; of++)
		n = n * 10 + (size_t)(*of - '0');
	return n;
}

/* The caller removes the heap's file, whatever the answer is. */
static int deaths(size_t mib)
{
	unsigned i;

	if (start_process())
		be_filled(mib << 20);
	if (!process_ended_well())
		return 1;
	for (i = 0; i < DEATHS / scale; i++) {
		uint64_t before = common->ready, limit = now() + 1000000000;
		long pid = start_process_known();

		if (pid == 0)
			be_killed();
		while (__atomic_load_n(&common->ready, __ATOMIC_SEQ_CST) == before && now() < limit)
			yield();
		pause_for(200000 + 7919 * i % 300000);
		kill_process(pid);
		(void)process_ended_well();
	}
	attached("deaths", mib);
	attached("attach", mib);
	return 0;
}

#endif

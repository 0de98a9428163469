/* SPDX-License-Identifier: MIT */
/*
 * shared.c: processes that are killed in a churn, one after the other, beside two that are not.  Each holds
 * up to HELD blocks of its own, and replaces blocks that all name by words in the heap, with those of others.  After
 * each kill the others must go on; the next process recovers what the last one left, and releases its blocks.
 */
#ifndef SHARED_KILLS_H
#define SHARED_KILLS_H

#ifdef ALONE
enum { BESIDE = 0 };
#else
enum { BESIDE = 2 };
#endif
/* A process goes on if it makes so many operations in so many seconds. */
enum { CELLS = 256, GOES_ON = 1000, SECONDS = 5 };

/* The process counts its blocks, so the blocks that it had when it was killed are known. */
static void churn(struct worker *w)
{
	uint64_t state = now() | 1, n;

	for (n = 1; __atomic_load_n(&common->stop, __ATOMIC_RELAXED) == 0; n++) {
		uint64_t random = next_random(&state);
		size_t size = (size_t)(8 + (random >> 32) % 4000);
		void **p = &held[n % HELD];

		if (common->cells != NULL && random % 4 == 0) {
			take_instead(&common->cells[(random >> 8) % CELLS], size);
		} else {
			if (*p != NULL) {
				give(*p);
				w->given++;
			}
			*p = take(size);
			if (*p == NULL)
				fail("full");
			w->taken++;
		}
		__atomic_store_n(&w->operations, n, __ATOMIC_RELAXED);
	}
	for (n = 0; n < HELD; n++)
		if (held[n] != NULL)
			give(held[n]);
	__atomic_store_n(&w->ended, 1, __ATOMIC_RELEASE);
	leave(0);
}

static void be_next(struct worker *w)
{
	w->taken = w->given = w->operations = 0;
	w->started = now();
	if (!heap_join())
		fail("no place");
	(void)heap_give_back();
	w->ended = now();
	(void)__atomic_fetch_add(&common->ready, 1, __ATOMIC_SEQ_CST);
	churn(w);
}

/* False: the word does not get that large. */
static bool reaches(const uint64_t *word, uint64_t value)
{
	uint64_t limit = now() + SECONDS * 1000000000ull;

	while (__atomic_load_n(word, __ATOMIC_SEQ_CST) < value) {
		if (common->failed[0] != '\0' || now() > limit)
			return false;
		yield();
	}
	return true;
}

static long start_beside(struct worker *w)
{
	long pid = start_process_known();

	if (pid == 0) {
		if (!heap_join())
			fail("no place");
		churn(w);
	}
	return pid;
}

/* One process is started, and killed; NULL: all is well. */
static const char *kill_one(uint64_t n, bool times)
{
	struct worker *w = &common->worker[BESIDE];
	uint64_t state = now() | 1;
	long pid = start_process_known();
	bool ready;
	unsigned i;

	if (pid == 0)
		be_next(w);
	ready = reaches(&common->ready, n + 1);
	pause_for(next_random(&state) % 1000000);
	kill_process(pid);
	(void)process_ended_well();
	if (ready && n > 0 && times)
		print("kills-recovery %llu ns\n", (unsigned long long)(w->ended - w->started));
	for (i = 0; i < BESIDE && ready; i++)
		ready = reaches(&common->worker[i].operations, common->worker[i].operations + GOES_ON);
	if (ready)
		return NULL;
	return common->failed[0] != '\0' ? common->failed : "hangs";
}

static int kills(size_t count)
{
	uint64_t n = 0, dead = 0, early = 0;
	bool can = heap_make(CAPACITY) && heap_give_back();
	const struct worker *w = &common->worker[BESIDE];
	const char *why = NULL;
	long pid[BESIDE + 1];
	unsigned i;

	if (BESIDE != 0)
		common->cells = (void **)take_zeroed(CELLS * sizeof(void *));
	else
		heap_leave();
	for (i = 0; i < BESIDE; i++)
		pid[i] = start_beside(&common->worker[i]);
	while (n < count && (why = kill_one(n, can)) == NULL) {
		n++;
		dead += w->taken - w->given;
		if (n == (count + 9) / 10)
			early = heap_file_bytes();
	}
	print("kills-gone %llu kills\n", (unsigned long long)n);
	print("kills-blocks %llu blocks\n", (unsigned long long)dead);
	if (why != NULL)
		print("kills-end %s\n", why);
	common->stop = 1;
	for (i = 0; i < BESIDE; i++) {
		if (why == NULL && !reaches(&common->worker[i].ended, 1))
			why = "hangs";
		if (why != NULL)
			kill_process(pid[i]);
		(void)process_ended_well();
	}
	if (why != NULL || !can)
		return 0;
	print("kills-early %llu bytes\n", (unsigned long long)early);
	print("kills-file %llu bytes\n", (unsigned long long)heap_file_bytes());
	if (!heap_join())
		return 1;
	(void)heap_give_back();
	for (i = 0; i < CELLS && common->cells != NULL; i++)
		if (common->cells[i] != NULL)
			give_from(&common->cells[i]);
	if (common->cells != NULL)
		give(common->cells);
	print("kills-left %llu blocks\n", (unsigned long long)blocks_left());
	return 0;
}

#endif

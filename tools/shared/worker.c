/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include "rt.h"

enum { SIGKILL = 9, EXCERPT = 400 };

static void work_on(struct session *s, const struct word *w, struct rt_random *random)
{
	uint64_t dice = rt_below(random, 100);
	enum act act = dice < 60 ? COUNT : dice < 75 ? REPLACE : DELETE;
	enum outcome outcome;

	if (dice < 85) {
		do
			outcome = table_change(s, w, act, (uint32_t)rt_below(random, EXCERPT));
		while (outcome == LOST_SWAP);
		if (outcome == NO_MEMORY)
			rt_exit(HEAP_FULL);
		if (outcome == DONE)
			return;
	}
	if (!table_verify(s, w))
		rt_exit(WRONG_ENTRY);
}

_Noreturn void work(struct session s, uint64_t seed)
{
	uint64_t *operations = &s.slot->operations;
	struct rt_random random;
	size_t at;

	rt_seed(&random, seed);
	at = rt_below(&random, s.text->count);
	while (__atomic_load_n(&s.table->stop, __ATOMIC_RELAXED) == 0) {
		work_on(&s, &s.text->words[at], &random);
		at = at + 1 < s.text->count ? at + 1 : 0;
		__atomic_store_n(operations, *operations + 1, __ATOMIC_RELAXED);
	}
	rt_exit(0);
}

_Noreturn void kill_workers(const long *pids, uint64_t seconds, uint64_t seed)
{
	uint64_t pause = rt_under_qemu() ? 50000000 : 2000000;
	uint64_t end = rt_now() + seconds * 1000000000;
	struct rt_random random;

	rt_seed(&random, seed);
	while (rt_now() < end) {
		long pid;

		rt_sleep(pause + rt_below(&random, pause));
		pid = __atomic_load_n(&pids[rt_below(&random, WORKERS)], __ATOMIC_RELAXED);
		if (pid != 0)
			rt_kill(pid, SIGKILL);
	}
	rt_exit(0);
}

/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include "rt.h"

enum { SIGKILL = 9 };

_Noreturn void work(struct session s, unsigned place, uint64_t seed)
{
	struct place *at = &s.table->place[place];
	struct rt_random random;
	size_t i;

	rt_seed(&random, seed);
	i = rt_below(&random, s.text->count);
	while (__atomic_load_n(&s.table->stop, __ATOMIC_RELAXED) == 0) {
		const struct word *w = &s.text->words[i];
		uint64_t dice = rt_below(&random, 100);
		enum act act = dice < 70 ? COUNT : dice < 85 ? REPLACE : DELETE;

		if (w->hash % BUCKETS % WORKERS != place) {
			if (dice < 20 && !table_verify(&s, w))
				rt_exit(WRONG_ENTRY);
		} else if (!table_change(&s, at, w, act, (uint32_t)rt_next(&random))) {
			rt_exit(HEAP_FULL);
		}
		i = i + 1 < s.text->count ? i + 1 : 0;
		__atomic_store_n(&at->operations, at->operations + 1, __ATOMIC_RELAXED);
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

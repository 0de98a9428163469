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

/*
 * Each of both writes a word and then reads the other's, sequentially consistent: either the killer
 * sees that the pid is gone, or the parent sees that it is aimed at.
 */
static void kill_one(struct targets *t, unsigned place)
{
	long pid = __atomic_load_n(&t->pid[place], __ATOMIC_RELAXED);

	__atomic_store_n(&t->aim, pid, __ATOMIC_SEQ_CST); /* pairs with the load in target_remove */
	if (pid != 0 && __atomic_load_n(&t->pid[place], __ATOMIC_SEQ_CST) == pid)
		rt_kill(pid, SIGKILL);
	__atomic_store_n(&t->aim, 0, __ATOMIC_RELEASE); /* pairs with the same: the kill is over */
}

void target_remove(struct targets *t, unsigned place)
{
	long pid = t->pid[place];

	__atomic_store_n(&t->pid[place], 0, __ATOMIC_SEQ_CST); /* pairs with the load in kill_one */
	while (__atomic_load_n(&t->aim, __ATOMIC_SEQ_CST) == pid)
		rt_yield();
}

_Noreturn void kill_workers(struct targets *t, uint64_t seconds, uint64_t seed)
{
	uint64_t pause = rt_under_qemu() ? 50000000 : 2000000;
	uint64_t end = rt_now() + seconds * 1000000000;
	struct rt_random random;

	rt_seed(&random, seed);
	while (rt_now() < end) {
		rt_sleep(pause + rt_below(&random, pause));
		kill_one(t, (unsigned)rt_below(&random, WORKERS));
	}
	rt_exit(0);
}

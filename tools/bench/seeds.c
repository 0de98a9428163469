/* SPDX-License-Identifier: MIT */
/*
 * The experiments Ashlar was created from, one process each, so that every run begins
 * with a fresh heap.  Built twice (host.h); tools/bench/run interleaves the two and
 * compares.  In here: the program, and the experiments with small blocks.
 */
#include "seeds.h"

#ifdef NEVER /* Ashlar without huge pages, for the rows that show what they are worth */
const struct ash_defaults ash_defaults = {
	.initial = 2097152, .cap = 0, .retain = 10485760, .huge = ASH_HUGE_NEVER};
#endif

enum { BATCH = 1000, ROUNDS = 1000 };

int seed_repeats = 10000;

static uint64_t batch_rounds(void **p, int rounds)
{
	uint64_t start = rt_now();
	int i;

	while (rounds-- > 0) {
		for (i = 0; i < BATCH; i++)
			p[i] = take(128);
		keep(p);
		for (i = 0; i < BATCH; i++)
			give(p[i]);
	}
	return rt_now() - start;
}

/* 1000 x 128 B, then released: the first round of a fresh process, and warm. */
void seed_batch(void)
{
	static void *p[BATCH];
	uint64_t cold, best = UINT64_MAX, t;
	int i;

	(void)rt_now(); /* the vdso's or the call's own first fault is not ours */
	keep(memset(p, 1, sizeof p));
	cold = batch_rounds(p, 1);
	for (i = 0; i < ROUNDS; i++) {
		/* Ten at a time: reading the clock is a system call for one of the two. */
		t = batch_rounds(p, 10) / 10;
		best = t < best ? t : best;
	}
	rt_print("batch-cold %llu ns\n", (unsigned long long)cold);
	rt_print("batch-warm %llu ns\n", (unsigned long long)best);
}

/* A random walk over 256 MiB of blocks of 64 bytes. */
void seed_walk(void)
{
	enum { N = 4194304 };
	struct link {
		struct link *next;
		char rest[56];
	} **all = take(N * sizeof(*all)), *at;
	uint64_t start, state = 88172645463325252u;
	int i;

	for (i = 0; i < N; i++)
		all[i] = take(sizeof(**all));
	for (i = N - 1; i > 0; i--) {
		struct link *other;
		int k;

		k = (int)(next_random(&state) % (unsigned)i);
		other = all[i];
		all[i] = all[k];
		all[k] = other;
	}
	for (i = 0; i < N; i++)
		all[i]->next = all[(i + 1) % N];
	at = all[0];
	start = rt_now();
	for (i = 0; i < N; i++)
		at = at->next;
	keep(at);
	rt_print("walk %llu ns\n", (unsigned long long)(rt_now() - start) * 1000 / N);
}

static const struct {
	const char *name;
	void (*run)(void);
} experiments[] = {
	{"batch", seed_batch},
	{"gigabyte", seed_gigabyte},
	{"untouched", seed_untouched},
	{"touched", seed_touched},
	{"overflow", seed_overflow},
	{"written", seed_written},
	{"sparse", seed_sparse},
	{"warm", seed_warm},
	{"fill", seed_fill},
	{"grow", seed_grow},
	{"zeroed", seed_zeroed},
	{"loop", seed_loop},
	{"walk", seed_walk},
};

int main(int argc, char **argv, char **envp)
{
	size_t i;

	(void)envp;
	if (argc > 2 && rt_strcmp(argv[2], "short") == 0)
		seed_repeats = 40;
	for (i = 0; argc > 1 && i < sizeof(experiments) / sizeof(experiments[0]); i++)
		if (rt_strcmp(argv[1], experiments[i].name) == 0) {
			experiments[i].run();
			return 0;
		}
	return 2;
}

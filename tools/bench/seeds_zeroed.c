/* SPDX-License-Identifier: MIT */
/* Experiments with zeroed blocks: what is not touched should cost nothing. */
#include "seeds.h"

/* 1 GiB zeroed and never touched, against allocated, cleared and released. */
void seed_gigabyte(void)
{
	uint64_t best = UINT64_MAX, start, t;
	void *p;
	int i;

	for (i = 0; i < 50; i++) {
		start = rt_now();
		p = take_zero(1024 * MIB);
		keep(p);
		give(p);
		t = rt_now() - start;
		best = t < best ? t : best;
	}
	rt_print("zero-1g %llu ns\n", (unsigned long long)best);
	best = UINT64_MAX;
	for (i = 0; i < 2; i++) {
		start = rt_now();
		p = take(1024 * MIB);
		keep(memset(p, 0, 1024 * MIB));
		give(p);
		t = rt_now() - start;
		best = t < best ? t : best;
	}
	rt_print("clear-1g %llu ns\n", (unsigned long long)best);
}

/* 100 MiB zeroed and released, so many times. */
static void recycle(const char *name, int pages)
{
	unsigned long before;
	uint64_t start = 0, t;
	int i, k;

	before = 0;
	for (i = -20; i < seed_repeats; i++) {
		volatile char *p;

		if (i == 0) {
			before = rt_faults();
			start = rt_now();
		}
		p = take_zero(100 * MIB);
		for (k = 0; k < pages; k++)
			p[(size_t)k * 4096] = 1;
		keep((void *)p);
		give((void *)p);
	}
	t = rt_now() - start;
	rt_print("%s %llu ns\n", name, (unsigned long long)(t / (unsigned)seed_repeats));
	rt_print("%s-faults %llu per-1000\n", name,
	      (unsigned long long)((rt_faults() - before) * 1000 / (unsigned)seed_repeats));
}

void seed_untouched(void)
{
	recycle("zero-100m", 0);
}

void seed_touched(void)
{
	recycle("zero-100m-page", 1);
}

/* ... every page of it written each time, and what clearing and writing take by themselves. */
void seed_written(void)
{
	volatile char *p;
	uint64_t start;
	size_t k;
	int rounds = seed_repeats > 40 ? 40 : 10, i;

	p = take(100 * MIB);
	for (i = -1; i < rounds; i++) {
		if (i == 0)
			start = rt_now();
		keep(memset((void *)p, 0, 100 * MIB));
		for (k = 0; k < 100 * MIB; k += 4096)
			p[k] = 1;
	}
	rt_print("clear-100m %llu ns\n", (unsigned long long)(rt_now() - start) / (unsigned)rounds);
	give((void *)p);
	for (i = -2; i < rounds; i++) {
		if (i == 0)
			start = rt_now();
		p = take_zero(100 * MIB);
		for (k = 0; k < 100 * MIB; k += 4096)
			p[k] = 1;
		keep((void *)p);
		give((void *)p);
	}
	rt_print("zero-100m-all %llu ns\n", (unsigned long long)(rt_now() - start) / (unsigned)rounds);
}

/* 16384 x 16384 doubles, the diagonal written. */
void seed_sparse(void)
{
	size_t n = 16384, before = rt_resident(), i;
	uint64_t start = rt_now();
	double *m = take_zero(n * n * sizeof(*m));

	for (i = 0; i < n; i++)
		m[i * n + i] = 1;
	keep(m);
	rt_print("sparse %llu ns\n", (unsigned long long)(rt_now() - start));
	rt_print("sparse-resident %llu bytes\n", (unsigned long long)(rt_resident() - before));
}

/* A million zeroed blocks of 64 ... 4096 bytes, from a fresh heap. */
void seed_zeroed(void)
{
	uint64_t start = rt_now(), state = 88172645463325252u;
	int i;

	for (i = 0; i < 1000000; i++)
		keep(take_zero(64 + next_random(&state) % 4033));
	rt_print("zeroed %llu ns\n", (unsigned long long)(rt_now() - start));
}

void seed_overflow(void)
{
	volatile size_t huge = SIZE_MAX / 2;

	rt_print("overflow %d null\n", take_array(huge, huge) == NULL);
}

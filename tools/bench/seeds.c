/* SPDX-License-Identifier: MIT */
/*
 * The experiments Ashlar was created from, one process each, so that every
 * run begins with a fresh heap.  Built twice from this file: without a libc
 * against Ashlar, and with the host's libc (-DHOSTED) against malloc, which
 * LD_PRELOAD may replace.  tools/bench/run interleaves the two and compares.
 *
 * Prints "name value unit" lines; the values are nanoseconds or counts.
 */
#ifdef HOSTED
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#define take(n)	    malloc(n)
#define take_zero(n) calloc(1, n)
#define give(p)	    free(p)
#define print	    printf
#define same(a, b)  (strcmp(a, b) == 0)

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static unsigned long faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (unsigned long)u.ru_minflt;
}
#else
#include "ashlar.h"
#include "rt.h"
#define take(n)	    ash_alloc(n)
#define take_zero(n) ash_zalloc(1, n)
#define give(p)	    ash_release(p)
#define print	    rt_print
#define now	    rt_now
#define faults	    rt_faults
#define same(a, b)  (rt_strcmp(a, b) == 0)
#endif

enum { BATCH = 1000, ROUNDS = 1000 };
#define MIB ((size_t)1 << 20)

/* The compiler must neither drop a pair of calls nor the writes between them. */
static void keep(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

static uint64_t batch_rounds(void **p, int rounds)
{
	uint64_t start = now();
	int i;

	while (rounds-- > 0) {
		for (i = 0; i < BATCH; i++)
			p[i] = take(128);
		keep(p);
		for (i = 0; i < BATCH; i++)
			give(p[i]);
	}
	return now() - start;
}

/* 1000 x 128 B, then released: the first round of a fresh process, and warm. */
static void batch(void)
{
	static void *p[BATCH];
	uint64_t cold, best = UINT64_MAX, t;
	int i;

	(void)now(); /* the vdso's or the call's own first fault is not ours */
	keep(memset(p, 1, sizeof p));
	cold = batch_rounds(p, 1);
	for (i = 0; i < ROUNDS; i++) {
		/* Ten at a time: reading the clock is a system call for one of the two. */
		t = batch_rounds(p, 10) / 10;
		best = t < best ? t : best;
	}
	print("batch-cold %llu ns\n", (unsigned long long)cold);
	print("batch-warm %llu ns\n", (unsigned long long)best);
}

/* 1 GiB zeroed and never touched, against allocated, cleared and released. */
static void gigabyte(void)
{
	uint64_t best = UINT64_MAX, start, t;
	void *p;
	int i;

	for (i = 0; i < 50; i++) {
		start = now();
		p = take_zero(1024 * MIB);
		keep(p);
		give(p);
		t = now() - start;
		best = t < best ? t : best;
	}
	print("zero-1g %llu ns\n", (unsigned long long)best);
	best = UINT64_MAX;
	for (i = 0; i < 2; i++) {
		start = now();
		p = take(1024 * MIB);
		keep(memset(p, 0, 1024 * MIB));
		give(p);
		t = now() - start;
		best = t < best ? t : best;
	}
	print("clear-1g %llu ns\n", (unsigned long long)best);
}

/* 100 MiB zeroed and released, ten thousand times. */
static void recycle(const char *name, int pages, int rounds)
{
	unsigned long before;
	uint64_t start = 0, t;
	int i, k;

	before = 0;
	for (i = -20; i < rounds; i++) {
		volatile char *p;

		if (i == 0) {
			before = faults();
			start = now();
		}
		p = take_zero(100 * MIB);
		for (k = 0; k < pages; k++)
			p[(size_t)k * 4096] = 1;
		keep((void *)p);
		give((void *)p);
	}
	t = now() - start;
	print("%s %llu ns\n", name, (unsigned long long)(t / (unsigned)rounds));
	print("%s-faults %llu per-1000\n", name,
	      (unsigned long long)((faults() - before) * 1000 / (unsigned)rounds));
}

static void overflow(void)
{
	volatile size_t huge = SIZE_MAX / 2;
#ifdef HOSTED
	void *p = calloc(huge, huge);
#else
	void *p = ash_zalloc(huge, huge);
#endif
	print("overflow %d null\n", p == NULL);
}

int main(int argc, char **argv
#ifndef HOSTED
	 ,
	 char **envp
#endif
)
{
	const char *what = argc > 1 ? argv[1] : "";
	int rounds = 10000;

#ifndef HOSTED
	(void)envp;
#endif
	/* Peers that clear 100 MiB each time take minutes for the full count. */
	if (argc > 2 && same(argv[2], "short"))
		rounds = 40;
	if (same(what, "batch"))
		batch();
	else if (same(what, "gigabyte"))
		gigabyte();
	else if (same(what, "untouched"))
		recycle("zero-100m", 0, rounds);
	else if (same(what, "touched"))
		recycle("zero-100m-page", 1, rounds);
	else if (same(what, "overflow"))
		overflow();
	else
		return 2;
	return 0;
}

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
#define take(n)      malloc(n)
#define change(p, n) realloc(p, n)
#define take_zero(n) calloc(1, n)
#define give(p)      free(p)
#define print        printf
#define same(a, b)   (strcmp(a, b) == 0)

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

static size_t resident(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f == NULL || fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	if (f != NULL)
		fclose(f);
	return pages * 4096;
}

#include <sys/mman.h>
/* What no allocator can beat: a mapping with the same advice. */
static void *bare(size_t bytes)
{
	char *p = mmap(NULL, bytes + 2097152, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	p += -(uintptr_t)p & 2097151;
	(void)madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}
#else
#include "ashlar.h"
#include "rt.h"
#define take(n)      ash_alloc(n)
#define change(p, n) ash_resize(p, n)
#define take_zero(n) ash_zalloc(1, n)
#define give(p)      ash_release(p)
#define print        rt_print
#define now          rt_now
#define faults       rt_faults
#define resident     rt_resident
#define same(a, b)   (rt_strcmp(a, b) == 0)
#endif

#ifdef NEVER /* Ashlar without huge pages, for the rows that show what they are worth */
const struct ash_defaults ash_defaults = {
	.initial = 2097152, .cap = 0, .retain = 16777216, .huge = ASH_HUGE_NEVER};
#endif

#include "random.h"

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

/* Peers that clear 100 MiB each time take minutes for the full count. */
static int repeats = 10000;

/* 100 MiB zeroed and released, so many times. */
static void recycle(const char *name, int pages)
{
	unsigned long before;
	uint64_t start = 0, t;
	int i, k;

	before = 0;
	for (i = -20; i < repeats; i++) {
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
	print("%s %llu ns\n", name, (unsigned long long)(t / (unsigned)repeats));
	print("%s-faults %llu per-1000\n", name,
	      (unsigned long long)((faults() - before) * 1000 / (unsigned)repeats));
}

static void untouched(void)
{
	recycle("zero-100m", 0);
}

static void touched(void)
{
	recycle("zero-100m-page", 1);
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

/* ... every page of it written each time, and what clearing and writing take by themselves. */
static void written(void)
{
	volatile char *p;
	uint64_t start;
	size_t k;
	int rounds = repeats > 40 ? 40 : 10, i;

	p = take(100 * MIB);
	for (i = -1; i < rounds; i++) {
		if (i == 0)
			start = now();
		keep(memset((void *)p, 0, 100 * MIB));
		for (k = 0; k < 100 * MIB; k += 4096)
			p[k] = 1;
	}
	print("clear-100m %llu ns\n", (unsigned long long)(now() - start) / (unsigned)rounds);
	give((void *)p);
	for (i = -2; i < rounds; i++) {
		if (i == 0)
			start = now();
		p = take_zero(100 * MIB);
		for (k = 0; k < 100 * MIB; k += 4096)
			p[k] = 1;
		keep((void *)p);
		give((void *)p);
	}
	print("zero-100m-all %llu ns\n", (unsigned long long)(now() - start) / (unsigned)rounds);
}

/* 16384 x 16384 doubles, the diagonal written. */
static void sparse(void)
{
	size_t n = 16384, before = resident(), i;
	uint64_t start = now();
	double *m = take_zero(n * n * sizeof(*m));

	for (i = 0; i < n; i++)
		m[i * n + i] = 1;
	keep(m);
	print("sparse %llu ns\n", (unsigned long long)(now() - start));
	print("sparse-resident %llu bytes\n", (unsigned long long)(resident() - before));
}

static uint64_t write_pages(char *p, size_t bytes)
{
	uint64_t start = now();
	size_t i;

	for (i = 0; i < bytes; i += 4096)
		((volatile char *)p)[i] = 1;
	return now() - start;
}

/* The host takes memory back that is idle: first touches after a pause are not ours to measure. */
static void warm(void)
{
	char *p = take(2048 * MIB);

	(void)write_pages(p, 2048 * MIB);
	keep(p);
}

/* 512 MiB, a byte of each page: the first time, and after it was released. */
static void fill(void)
{
	size_t bytes = 512 * MIB;
	uint64_t start = now();
	char *p = take(bytes);

	(void)write_pages(p, bytes);
	print("fill %llu ns\n", (unsigned long long)(now() - start));
	start = now();
	keep(memset(p, 0, bytes));
	print("fill-clear %llu ns\n", (unsigned long long)(now() - start));
	give(p);
	start = now();
	p = take(bytes);
	(void)write_pages(p, bytes);
	print("fill-again %llu ns\n", (unsigned long long)(now() - start));
	give(p);
#ifdef HOSTED
	start = now();
	p = bare(bytes);
	(void)write_pages(p, bytes);
	print("fill-bare %llu ns\n", (unsigned long long)(now() - start));
#endif
}

/* From 1 MiB to 1 GiB by steps of 1 MiB, each filled. */
static void grow(void)
{
	uint64_t start = now(), t;
	char *p = NULL, *way;
	size_t i;

	for (i = 1; i <= 1024; i++) {
		p = change(p, i * MIB);
		keep(memset(p + (i - 1) * MIB, 1, MIB));
	}
	print("grow %llu ns\n", (unsigned long long)(now() - start));
	way = take(2 * MIB);
	keep(way);
	t = now();
	p = change(p, 2048 * MIB);
	print("grow-1g-2g %llu ns\n", (unsigned long long)(now() - t));
	give(p);
	give(way);
}

/* A million zeroed blocks of 64 ... 4096 bytes, from a fresh heap. */
static void zeroed(void)
{
	uint64_t start = now(), state = 88172645463325252u;
	int i;

	for (i = 0; i < 1000000; i++) {
		keep(take_zero(64 + next_random(&state) % 4033));
	}
	print("zeroed %llu ns\n", (unsigned long long)(now() - start));
}

/* 8 MiB filled and released again and again, and the same block filled by hand. */
static void loop(void)
{
	uint64_t start;
	char *p = take(8 * MIB);
	int i;

	(void)write_pages(p, 8 * MIB);
	start = now();
	for (i = 0; i < 500; i++)
		keep(memset(p, i, 8 * MIB));
	print("loop-by-hand %llu ns\n", (unsigned long long)(now() - start) / 500);
	give(p);
	p = take(512 * MIB); /* a peak that is to go meanwhile */
	(void)write_pages(p, 512 * MIB);
	give(p);
	for (i = -20; i < 500; i++) {
		if (i == 0)
			start = now();
		p = take(8 * MIB);
		keep(memset(p, i, 8 * MIB));
		give(p);
	}
	print("loop %llu ns\n", (unsigned long long)(now() - start) / 500);
}

/* A random walk over 256 MiB of blocks of 64 bytes. */
static void walk(void)
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
	start = now();
	for (i = 0; i < N; i++)
		at = at->next;
	keep(at);
	print("walk %llu ns\n", (unsigned long long)(now() - start) * 1000 / N);
}

static const struct {
	const char *name;
	void (*run)(void);
} experiments[] = {
	{"batch", batch},     {"gigabyte", gigabyte}, {"untouched", untouched},
	{"touched", touched}, {"overflow", overflow}, {"written", written},
	{"sparse", sparse},   {"warm", warm},         {"fill", fill},
	{"grow", grow},       {"zeroed", zeroed},     {"loop", loop},
	{"walk", walk},
};

int main(int argc, char **argv
#ifndef HOSTED
	 ,
	 char **envp
#endif
)
{
	size_t i;

#ifndef HOSTED
	(void)envp;
#endif
	if (argc > 2 && same(argv[2], "short"))
		repeats = 40;
	for (i = 0; argc > 1 && i < sizeof(experiments) / sizeof(experiments[0]); i++)
		if (same(argv[1], experiments[i].name)) {
			experiments[i].run();
			return 0;
		}
	return 2;
}

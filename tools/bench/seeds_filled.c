/* SPDX-License-Identifier: MIT */
/* Experiments with large blocks whose pages are written. */
#include "seeds.h"

#ifdef HOSTED
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
#endif

/* The host takes memory back that is idle: first touches after a pause are not ours to measure. */
void seed_warm(void)
{
	char *p = take(2048 * MIB);

	(void)write_pages(p, 2048 * MIB);
	keep(p);
}

/* 512 MiB, a byte of each page: the first time, and after it was released. */
void seed_fill(void)
{
	size_t bytes = 512 * MIB;
	uint64_t start = rt_now();
	char *p = take(bytes);

	(void)write_pages(p, bytes);
	rt_print("fill %llu ns\n", (unsigned long long)(rt_now() - start));
	start = rt_now();
	keep(memset(p, 0, bytes));
	rt_print("fill-clear %llu ns\n", (unsigned long long)(rt_now() - start));
	give(p);
	start = rt_now();
	p = take(bytes);
	(void)write_pages(p, bytes);
	rt_print("fill-again %llu ns\n", (unsigned long long)(rt_now() - start));
	give(p);
#ifdef HOSTED
	start = rt_now();
	p = bare(bytes);
	(void)write_pages(p, bytes);
	rt_print("fill-bare %llu ns\n", (unsigned long long)(rt_now() - start));
#endif
}

/* From 1 MiB to 1 GiB by steps of 1 MiB, each filled. */
void seed_grow(void)
{
	uint64_t start = rt_now(), t;
	char *p = NULL, *way;
	size_t i;

	for (i = 1; i <= 1024; i++) {
		p = change(p, i * MIB);
		keep(memset(p + (i - 1) * MIB, 1, MIB));
	}
	rt_print("grow %llu ns\n", (unsigned long long)(rt_now() - start));
	way = take(2 * MIB);
	keep(way);
	t = rt_now();
	p = change(p, 2048 * MIB);
	rt_print("grow-1g-2g %llu ns\n", (unsigned long long)(rt_now() - t));
	give(p);
	give(way);
}

/* 8 MiB filled and released again and again, and the same block filled by hand. */
void seed_loop(void)
{
	uint64_t start;
	char *p = take(8 * MIB);
	int i;

	(void)write_pages(p, 8 * MIB);
	start = rt_now();
	for (i = 0; i < 500; i++)
		keep(memset(p, i, 8 * MIB));
	rt_print("loop-by-hand %llu ns\n", (unsigned long long)(rt_now() - start) / 500);
	give(p);
	p = take(512 * MIB); /* a peak that is to go meanwhile */
	(void)write_pages(p, 512 * MIB);
	give(p);
	for (i = -20; i < 500; i++) {
		if (i == 0)
			start = rt_now();
		p = take(8 * MIB);
		keep(memset(p, i, 8 * MIB));
		give(p);
	}
	rt_print("loop %llu ns\n", (unsigned long long)(rt_now() - start) / 500);
}

/* SPDX-License-Identifier: MIT */
/*
 * The experiments Ashlar was created from.  Each prints "name value unit" lines; the
 * values are nanoseconds or counts.
 */
#ifndef SEEDS_H
#define SEEDS_H

#include "host.h"
#include "random.h"

/* Peers that clear 100 MiB each time take minutes for the full count. */
extern int seed_repeats;

/* A byte of each page; how long it took. */
static inline uint64_t write_pages(char *p, size_t bytes)
{
	uint64_t start = rt_now();
	size_t i;

	for (i = 0; i < bytes; i += 4096)
		((volatile char *)p)[i] = 1;
	return rt_now() - start;
}

/* ---- small blocks (seeds.c) ---- */
void seed_batch(void);
void seed_walk(void);

/* ---- zeroed blocks (seeds_zeroed.c) ---- */
void seed_gigabyte(void);
void seed_untouched(void);
void seed_touched(void);
void seed_overflow(void);
void seed_written(void);
void seed_sparse(void);
void seed_zeroed(void);

/* ---- large blocks, filled (seeds_filled.c) ---- */
void seed_warm(void);
void seed_fill(void);
void seed_grow(void);
void seed_loop(void);

#endif

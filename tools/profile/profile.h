/* SPDX-License-Identifier: MIT */
/*
 * libashlar_profile.so: Ashlar as malloc with samples (ashlar_sample.h), and what makes a heap
 * profile of them.
 *
 *   main    reads the settings, is told of samples, writes at the end and on a signal
 *   stack   who is allocating: by the unwinder of the host's libgcc_s, which is looked up at start,
 *           or by frame pointers
 *   sites   one record for each stack and size of block, with counters; never removed
 *   live    address of a live sample -> its site
 *   write   the file
 *
 * All but the start is for any thread and for signal handlers, and works on tables of a fixed
 * size in .bss, of which only the pages in use are resident: nothing here allocates or waits.
 * A thread that vanishes in a fork leaves at most one sample half entered.
 */
#ifndef PROFILE_H
#define PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* What the program's C library may have. */
#define IF_PRESENT __attribute__((weak, visibility("default")))

/* ---- stack.c ---- */
enum { STACK_MOST = 64 };
/* For the start of the process: it may allocate.  How stacks are taken from now on. */
enum stack_way { STACK_NONE, STACK_FRAMES, STACK_TABLES };
enum stack_way stack_begin(void);
/* The return addresses of the caller's callers, innermost first, without those in this library. */
unsigned stack_take(uintptr_t *out);

/* ---- sites.c ---- */
/* Samples so far, and those that are live now, with their bytes. */
struct figures {
	uint64_t all, all_bytes, live, live_bytes;
};
struct site {
	uint64_t hash;
	size_t size;	/* of each block; 0: blocks above 1 MiB, of several sizes */
	uint64_t depth;
	struct figures now;
	uintptr_t stack[];
};
extern uint64_t sites_lost; /* samples without a site, or without a place among the live ones */
/* The number of a site; 0: no room. */
uint32_t site_of(const uintptr_t *stack, unsigned depth, size_t size);
struct site *site_at(uint32_t number);
/* The next site at or after *place, which moves behind it; NULL: no more.  Begins with 0. */
struct site *site_next(uint32_t *place);

/* ---- live.c ---- */
/* False: no room. */
bool live_add(const void *p, size_t size, uint32_t site);
/* The same block leaves; 0: it was no sample. */
uint32_t live_remove(const void *p, size_t *size);

/* ---- write.c ---- */
/* Writes PREFIX.PID.NUMBER.heap.  False: it cannot be written. */
bool write_profile(const char *prefix, size_t distance);

#endif

/* SPDX-License-Identifier: MIT */
/* rts-alloc's side of shared.c (crates.io): an allocator of shared memory for blocks of at most 4 KiB. */
#ifndef BENCH_SHARED_RTS_H
#define BENCH_SHARED_RTS_H

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>

#include "shared_host.h"

/* shared_rts/lib.rs */
bool rts_make(int fd, size_t bytes, uint32_t workers);
void rts_join(void);
bool rts_joined(void);
void *rts_take(uint32_t size);
void rts_give(void *p);
void rts_clean(void);

enum { WORKERS = 16, CLEAN_EVERY = 256 };

/* A worker gets back what others release of its blocks when it asks for that. */
static void *take(size_t n)
{
	static unsigned takes;
	void *p;

	if (++takes % CLEAN_EVERY == 0)
		rts_clean();
	p = rts_take((uint32_t)n);
	if (p == NULL) {
		rts_clean();
		p = rts_take((uint32_t)n);
	}
	return p;
}

#define give(p) rts_give(p)

#include "shared_two_steps.h"

/* A child of fork is a worker of its own. */
static bool heap_make(size_t capacity)
{
	int fd = open(heap_name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	return rts_make(fd, capacity, WORKERS) && pthread_atfork(NULL, NULL, rts_join) == 0;
}

static bool heap_join(void)
{
	return rts_joined();
}

/* Not measured: a process that was killed keeps its worker, and nothing finds its blocks. */
static bool heap_again(void)
{
	return false;
}

static void heap_leave(void)
{
}

static bool heap_give_back(void)
{
	return false;
}

static bool heap_open(const char *of)
{
	bool made = heap_make(CAPACITY);

	(void)of;
	heap_remove();
	return made;
}

/* Unknown: each worker counts its own. */
static uint64_t blocks_left(void)
{
	return 0;
}

#endif

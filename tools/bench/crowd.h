/* SPDX-License-Identifier: MIT */
/* What rows of several threads share. */
#ifndef CROWD_H
#define CROWD_H

#include "row.h"

enum { CROWD = 4, TWO = 2, LINE = 128 };

struct worker {
	_Alignas(LINE) uint64_t state;
	void **blocks;
	unsigned number;
};
extern struct worker workers[CROWD];

/* Starts `count` threads, each with its worker as argument, and joins them. */
void together(unsigned count, void (*body)(void *));

/* Numbers the workers and gives each a table for so many blocks. */
void prepare_workers(unsigned blocks);

/* All wait the same way, with every malloc: some rounds awake, then the CPU to others. */
static inline void wait_some(unsigned *n)
{
	if (++*n % 64 == 0)
		rt_yield();
}

#endif

/* SPDX-License-Identifier: MIT */
/* Makes the calling thread look as in a process that was just forked: its benches are empty. */
#ifndef TESTS_FORGET_H
#define TESTS_FORGET_H

#include "heaps/benches.h"

static inline void benches_forget(void)
{
	unsigned kind;

	for (kind = 0; kind < SEAT_KINDS; kind++)
		if (thread_bench_look(kind) != NULL)
			bench_empty(thread_bench_look(kind));
}

#endif

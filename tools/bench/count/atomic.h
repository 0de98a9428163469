/* SPDX-License-Identifier: MIT */
/*
 * Stands before sys/atomic.h in the include path of a library that is built
 * to be measured (tools/bench/threads): counts the swaps, and those that were
 * lost.  A swap that asks a question (is this record vacant?) counts as lost when the
 * answer is no, so the figure is an upper bound of the retries.  Swaps of a thread's
 * own words (the seat) are left out: no other thread can win those.
 */
#ifndef BENCH_COUNT_ATOMIC_H
#define BENCH_COUNT_ATOMIC_H

#include_next "atomic.h"

/* In retries.c; of the thread, so that counting makes no contention of its own. */
extern _Thread_local uint64_t count_swaps, count_lost;

#define COUNTED(name)                                                                              \
	static inline bool counted_##name(uint64_t *word, uint64_t *expected, uint64_t desired)    \
	{                                                                                          \
		bool done = name(word, expected, desired);                                         \
		/* The thread's words stand together, few as they are. */                          \
		bool own = (uintptr_t)word - (uintptr_t)&count_lost + 512 < 1024;                  \
		count_swaps += !own;                                                               \
		count_lost += !own && !done;                                                       \
		return done;                                                                       \
	}
COUNTED(cas_acquire)
COUNTED(cas_acq_rel)
COUNTED(cas_seq_cst)
#undef COUNTED
#define cas_acquire counted_cas_acquire
#define cas_acq_rel counted_cas_acq_rel
#define cas_seq_cst counted_cas_seq_cst

#endif

/* SPDX-License-Identifier: MIT */
/*
 * One-thread forms of the atomic operations (ASHLAR_SINGLE_THREAD): one instruction
 * each, without the lock prefix.  A signal arrives between instructions, so these
 * are atomic with regard to a signal handler of the same thread.  They are not
 * atomic with regard to other threads.
 */
#ifndef ARCH_ATOMIC_ST_H
#define ARCH_ATOMIC_ST_H

#include "host.h"
#ifdef ARCH_X86_64

#include <stdbool.h>
#include <stdint.h>

static inline bool st_cas(volatile uint64_t *word, uint64_t *expected, uint64_t desired)
{
	bool done;

	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@ccz"(done), "+m"(*word), "+a"(*expected)
			 : "r"(desired)
			 : "memory");
	return done;
}

/* Sets bit n of an array of words; returns its previous value. */
static inline bool st_set_bit(uint64_t *words, uint64_t n)
{
	bool was;

	__asm__ volatile("btsq %2, %1" : "=@ccc"(was), "+m"(*words) : "r"(n) : "memory");
	return was;
}

#endif
#endif

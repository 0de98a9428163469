/* SPDX-License-Identifier: MIT */
/*
 * Read-modify-write for programs of a single thread: one instruction each,
 * without the lock prefix.  An interrupt falls between instructions, never
 * inside one, so these are atomic for a signal handler on the same thread;
 * they are nothing to another thread.
 */
#ifndef ARCH_ATOMIC_ST_H
#define ARCH_ATOMIC_ST_H

#include "host.h"
#ifdef ARCH_HOST

#include <stdbool.h>
#include <stdint.h>

static inline bool st_cas(volatile uint64_t *word, uint64_t *expected,
				       uint64_t desired)
{
	bool done;

	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@ccz"(done), "+m"(*word), "+a"(*expected)
			 : "r"(desired)
			 : "memory");
	return done;
}

/* Sets bit n of many words; was it set before? */
static inline bool st_set_bit(uint64_t *words, uint64_t n)
{
	bool was;

	__asm__ volatile("btsq %2, %1" : "=@ccc"(was), "+m"(*words) : "r"(n) : "memory");
	return was;
}

#endif
#endif

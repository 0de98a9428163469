/* SPDX-License-Identifier: MIT */
/*
 * A word that says which thread holds something: owner.state of a record, slab.hold
 * of a slab.
 *
 *   a heap of one process
 *   63 ........ 38 | 37 ......... 2 |   1   |  0
 *   generation     | thread number  | guest | held
 *
 *   a heap shared by processes
 *   63 ......................... 2 |   1   |  0
 *   life of the thread (life.h)    | guest | held
 *
 *   generation   of the holder (generation.h): of an older one only the record
 *                of the thread that forked still has a holder
 *   number       counted up in this memory, and drawn once by each thread.  No two
 *                threads that ever use this memory have the same one, whatever ids
 *                the system gives them; a child of fork counts on
 *   guest        held for a moment only, by a thread whose own record is another
 */
#ifndef CORE_HOLDER_WORD_H
#define CORE_HOLDER_WORD_H

#include <stdint.h>

#include "generation.h"

#define OWNER_VACANT ((uint64_t)0)
#define OWNER_HELD   ((uint64_t)1)
#define OWNER_GUEST  ((uint64_t)2)
#define OWNER_THREAD 2 /* where the rest begins */
#define OWNER_STAMP  (64 - GENERATION_BITS)

static inline uint64_t holder_generation(uint64_t word)
{
	return word >> OWNER_STAMP;
}

#endif

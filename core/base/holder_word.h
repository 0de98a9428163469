/* SPDX-License-Identifier: MIT */
/*
 * The holder word: which thread holds an owner record (owner.state) or a slab
 * (slab.hold).
 *
 *   a heap of one process
 *   63 ........ 38 | 37 ......... 2 |   1   |  0
 *   generation     | thread number  | guest | held
 *
 *   a heap shared by processes
 *   63 ......................... 2 |   1   |  0
 *   life of the thread (life.h)    | guest | held
 *
 *   generation   the fork generation of the holder (generation.h).  If it is an old
 *                one, the holder still exists only if it is the thread that forked
 *   number       tells whether the thread has ended (roll.h).  The thread that forked has
 *                the same number in the child
 *   held         by the thread whose calls use the record
 *   guest        instead of that: temporarily, by a thread that owns another record
 */
#ifndef CORE_HOLDER_WORD_H
#define CORE_HOLDER_WORD_H

#include <stdint.h>

#include "base/roll.h"
#include "generation.h"

#define OWNER_VACANT ((uint64_t)0)
#define OWNER_HELD   ((uint64_t)1)
#define OWNER_GUEST  ((uint64_t)2)
#define OWNER_THREAD 2 /* shift of the thread number, or of the life */
#define OWNER_STAMP  (64 - GENERATION_BITS) /* shift of the generation */

static inline uint64_t holder_generation(uint64_t word)
{
	return word >> OWNER_STAMP;
}

static inline uint64_t holder_number(uint64_t word)
{
	return word >> OWNER_THREAD & (((uint64_t)1 << ROLL_BITS) - 1);
}

#endif

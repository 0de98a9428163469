/* SPDX-License-Identifier: MIT */
/*
 * The roll: the threads that use the allocator, by the addresses of their seats (thread/seat.h).  It tells
 * whether a thread has ended, for any thread, at any time and without a system call.
 *
 *   number   35 ........... 18 | 17 ..................... 0    in holder words (below)
 *            serial            | place of an entry; 0: no entry
 *
 *   entry    63 ........... 18 | 17 ..................... 0    0: vacant
 *            the seat's        | serial of the last thread
 *            address / 16      | that had its seat there
 *
 * No two running threads have their seats at one address.  So when a thread finds its seat's address in the
 * roll, the last thread there has ended.  The new thread counts the serial up, and all earlier numbers of the
 * entry are then known as those of ended threads.  A child of vfork has its parent's seat, and so its number.
 * A child of fork has a copy of the roll, in which the threads that vanished seem to run on
 * (thread/seating.h).
 *
 * A serial comes round after 2^18 threads at one address.  Then a word that an ended thread left there seems
 * to be the present thread's, but never the other way round.
 */
#ifndef CORE_ROLL_H
#define CORE_ROLL_H

#include <stdbool.h>
#include <stdint.h>

#include "generation.h"
#include "internal.h"

#define ROLL_PLACE_BITS	 18
#define ROLL_SERIAL_BITS 18
#define ROLL_BITS	 (ROLL_PLACE_BITS + ROLL_SERIAL_BITS) /* bits of a number */

/*
 * Enters the calling thread, whose seat this is, and returns its number.  Must not interrupt another such
 * call of the thread.  If the roll is full, takes the entry of a thread whose seat is not mapped any more,
 * with at most eight calls of madvise.  Returns 0 if there is no memory, or no room because the seats of tens
 * of thousands of threads are mapped.
 */
INTERNAL uint64_t roll_enter(const void *local);

/* Returns true if the thread with this number has ended, because another thread has its seat. */
INTERNAL bool roll_has_left(uint64_t number);

/*
 * Returns the seat of the thread with this number, or NULL if there is no such number.  Only the address may
 * be used.
 */
INTERNAL const void *roll_seat(uint64_t number);

/*
 * The holder word tells which thread holds an owner record (owner.state) or a slab (slab.hold).
 *
 *   a heap of one process
 *   63 ........ 38 | 37 ......... 2 |   1   |  0
 *   generation     | thread number  | guest | held
 *
 *   a heap shared by processes
 *   63 ........... 24 | 23 ..... 2 |   1   |  0
 *   of shared_hooks   | thread id  | guest | held
 *
 *   generation   the fork generation of the holder (generation.h).  If it is old,
 *                the holder exists only if it is the thread that forked
 *   number       tells whether the thread has ended (above).  The thread that forked
 *                keeps its number in the child
 *   held         by the thread whose calls use the record
 *   guest        instead of that: temporarily, by a thread that owns another record
 */

#define OWNER_VACANT ((uint64_t)0)
#define OWNER_HELD   ((uint64_t)1)
#define OWNER_GUEST  ((uint64_t)2)
#define OWNER_THREAD 2 /* shift of the thread number, or of the word of shared_hooks */
#define OWNER_SHARED_ID (((uint64_t)1 << 22) - 1) /* mask of the id in that word */
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

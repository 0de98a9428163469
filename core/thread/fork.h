/* SPDX-License-Identifier: MIT */
/*
 * Fork: a child has a copy of the memory, but only the thread that forked.  The records of
 * all other threads stay held in it by threads that do not exist there, and are taken over
 * (takeover.h).
 *
 *   generation   0      0      0  | fork |   1      (0)     (0)
 *   owners     main     T1     T2         main    T1: lost  T2: lost
 *
 * A record's state contains the generation of its holder (sys/generation.h), which counts
 * forks.  The thread that forked finds a new generation the next time it needs a slab of
 * the heap, and takes over the records of older generations.  Threads that the child
 * starts before that have the new generation and leave the takeover to the thread that
 * forked: only that thread knows that the record in its own seat is not lost.
 */
#ifndef CORE_FORK_H
#define CORE_FORK_H

#include "generation.h"
#include "internal.h"
#include "thread/holder.h"

/*
 * Lets forks be noticed from now on (generation_watch).  Called before the second record
 * is made.  An earlier fork can lose the first record only, if a thread other than its
 * holder forks; in that child the record stays held.
 */
INTERNAL void fork_watch(struct heap *h);

/* Takes over the records of older generations; o: the caller's, checked out. */
INTERNAL void fork_settle(struct owner *o, uint64_t generation);

/* Calls fork_settle after a fork.  o: the caller's record, checked out. */
static inline void fork_notice(struct owner *o)
{
	uint64_t generation;

	if (o->heap->sharing != PAGES_PRIVATE)
		return; /* a child gets records of its own there */
	generation = generation_now();
	/* Pairs with the release in fork_settle. */
	if (unlikely(load_acquire(&o->heap->settled) != generation))
		fork_settle(o, generation);
	/* The first record is made before forks are noticed. */
	if (unlikely(o->identity == 0) && generation_is_watched())
		holder_identify(o);
}

#endif

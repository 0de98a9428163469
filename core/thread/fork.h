/* SPDX-License-Identifier: MIT */
/*
 * After a fork: the child has a copy of everything and one thread.  The
 * records of the others are held by nobody who would ever let go of them.
 *
 *   generation   0      0      0  | fork |   1      (0)     (0)
 *   owners     main     T1     T2         main    T1: lost  T2: lost
 *
 * A record's state holds the generation of its holder.  The thread that
 * forked notices, the next time it needs a slab of the heap, that the
 * generation has moved on, and takes over what older ones hold.  Threads that
 * the child starts before that have the new generation; they leave the
 * taking over to the one that forked, which alone knows that the record in its
 * own seat is not lost.
 */
#ifndef CORE_FORK_H
#define CORE_FORK_H

#include "generation.h"
#include "thread/holder.h"
#include "internal.h"

/*
 * Forks are noticed from the second record on.  Of an earlier one a child could
 * only lose the first, should another thread than its holder fork: that stays
 * taken there.
 */
INTERNAL void fork_watch(struct heap *h);

/* Takes over the records of vanished threads; o: the caller's, checked out. */
INTERNAL void fork_settle(struct owner *o, uint64_t generation);

static inline void fork_notice(struct owner *o)
{
	uint64_t generation;

	if (o->heap->sharing != PAGES_PRIVATE)
		return; /* a child has no seat there from its parent */
	generation = generation_now();
	if (unlikely(load_acquire(&o->heap->settled) != generation))
		fork_settle(o, generation);
	/* The first record is made before there is a reason to watch for forks. */
	if (unlikely(o->identity == 0) && generation_is_watched())
		holder_identify(o);
}

#endif

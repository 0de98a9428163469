/* SPDX-License-Identifier: MIT */
/*
 * Recovery from the death of threads in a heap shared by processes.
 *
 * A thread may be killed at any instruction.  What it was doing is determined by a live
 * thread, from its owner record:
 *
 *   flight     the one slot that it was about to hand out or to take back.  No other thread
 *              has the address of that slot or may use it, so the thread that takes over the
 *              record releases it.
 *   intents    blocks that only the record names, and words that it is changing (intent.h).
 *   building   odd while it changes more than slots: units, chunks, slabs (building.h).
 *              Memory that it holds meanwhile is in no bitmap and in no slab: it is lost when
 *              the thread dies.  A live thread searches the whole heap for such memory, at a
 *              moment when no live thread is building (all counters are even, and the same
 *              after the search as before), and returns it.
 *
 * One thread at a time searches; if it dies, another one does.  A thread that finds a live
 * thread building at each attempt gives up until the next time: no thread waits, and lost
 * memory remains lost a while longer.
 */
#ifndef CORE_RECOVER_H
#define CORE_RECOVER_H

#include "store/file/store.h"
#include "thread/owner.h"

/* For heap_hooks: the holder word of the calling thread (owner.h), and whether a holder died. */
INTERNAL uint64_t recover_holder(struct heap *h);
INTERNAL bool recover_is_dead(struct heap *h, uint64_t holder);
/*
 * For heap_hooks: the caller holds the record of a dead thread, as a guest.  Releases the
 * slot in flight, and counts the death if the thread was building.
 */
INTERNAL void recover_settle(struct owner *v);

/*
 * The caller holds the record of a dead thread, or of one that leaves, and is building
 * (building.h): completes its intents, and releases the blocks that only these name.
 * whole: the lists of the record are right, and stay so.
 */
INTERNAL void intents_settle(struct owner *v, bool whole);

/*
 * Takes over the records of all dead holders, then searches for lost memory.  Returns the
 * number of records.
 */
INTERNAL size_t heap_recover(struct heap *h, struct owner *o);

/*
 * recover_memory.c: searches the whole heap for lost memory and returns it: units, chunks, slots of unowned
 * slabs and owner records that a thread held when it died while building.  Does nothing while another live
 * thread searches.  What cannot be examined at a moment in which no thread builds is left to the next search.
 */
INTERNAL void lost_memory_return(struct store *s);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Recovery from the death of threads in a heap shared by processes.
 *
 * A thread may be killed at any instruction.  A live thread determines from the owner record what the dead thread was
 * doing:
 *
 *   flight     the only slot that it was about to hand out or to take back.  No other thread
 *              has the address of that slot or may use it, so the thread that takes over the
 *              record releases it.
 *   intents    blocks that only the record names, and words that it is changing (intent.h).
 *   building   odd while it changes more than slots: units, chunks, slabs (building.h).
 *   holds      the memory that it holds during these changes, in no bitmap and in no slab.
 *              Such memory is lost when the thread dies.  A live thread searches the whole heap
 *              for it, and returns the memory that no living thread holds (holds.h).
 *
 * Several threads may search.  Only memory that a living thread holds, working or stopped, is left to the next
 * search.
 */
#ifndef CORE_RECOVER_H
#define CORE_RECOVER_H

#include "store/allocator.h"
#include "store/file/store.h"

/* For shared_hooks: the holder word of the calling thread (owner.h), and whether a holder died. */
INTERNAL uint64_t recover_holder(struct heap *h);
INTERNAL bool recover_is_dead(struct heap *h, uint64_t holder);
/*
 * For shared_hooks: settles the record of a dead thread, which the caller holds as a guest.  Releases the slot in
 * flight, and counts the death if the thread was building.
 */
INTERNAL void recover_settle(struct owner *v);

/*
 * Completes the intents of a record, and releases the blocks that only these name.  The record is that of a dead
 * thread, or of a thread that leaves.  The caller holds the record and is building (building.h).  `whole` means that
 * the lists of the record are right, and stay right.
 */
INTERNAL void intents_settle(struct owner *v, bool whole);

/* For shared_hooks: searches for lost memory, after the records of all dead holders were taken over. */
INTERNAL void recover_search(struct heap *h, struct owner *o);

/*
 * recover_memory.c: finds and returns the lost memory of the whole heap: units, chunks, slots of unowned slabs and
 * owner records that a thread held that died while building.  o is the caller's record, or NULL.
 */
INTERNAL void lost_memory_return(struct store *s, struct owner *o);

/*
 * recover_count.c: counts units again, because dead threads may have left the counts wrong.  The counts are hints.
 * Returns false if they were wrong while a living thread was building, whose uncounted changes make them wrong until
 * the next search, or if they changed all the time.
 */
INTERNAL bool units_recount(struct store *s);

#endif

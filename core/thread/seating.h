/* SPDX-License-Identifier: MIT */
/*
 * Seating: a thread gets an owner record (a vacant one or a new one) with its first call,
 * and leaves it vacant with ash_thread_detach.
 */
#ifndef CORE_SEATING_H
#define CORE_SEATING_H

#include "generation.h"
#include "internal.h"
#include "thread/owner.h"
#include "thread/seat.h"

/*
 * Gets a record of the heap for the calling thread and stores it in *self, which is a word
 * of its seat and NULL if the thread has none.  The record is held and checked out.
 * NULL: *self was not NULL, as this call interrupted another one; or out of memory.
 */
INTERNAL struct owner *seat_fill(struct owner **self, struct heap *h);

/*
 * The part of seat_take for a closed seat: gets the thread its first record of the default
 * heap and calls ash_on_thread.  NULL: as seat_fill; the caller uses the unowned slabs.
 */
INTERNAL struct owner *seat_slow(void);

/* Checks the thread's record out for any change, until seat_give.  NULL: as seat_slow. */
static inline struct owner *seat_take(void)
{
	if (unlikely(seat.open == 0))
		return seat_slow();
	seat_close();
	owner_begin(seat.self);
	return seat.self;
}

static inline void seat_give(struct owner *o)
{
	owner_end(o);
	seat_open();
}

/* ---- seating_takeover.c ---- */

/*
 * Records that their threads do not hold: visits to vacant ones by a guest, and takeover of those
 * whose holders are gone, by a fork or by an end without ash_thread_detach.
 */

/*
 * Visits to vacant records.  A thread that has work for a record that no thread holds takes it as a
 * guest (seat.h), does that work, and vacates it again; none waits for a record that is held.
 */

/*
 * Holds the record as a guest and collects from its inbox, as long as it is vacant and was notified.
 * For the thread that vacated the record.
 */
INTERNAL void visit_vacant(struct owner *o);

/* Vacates a record that the caller holds, and then visits it if that is due. */
INTERNAL void visit_end(struct owner *o);

/*
 * Holds a vacant record as a guest and collects from one slab: for the thread that released the last
 * taken slot of a group of it.  What else the inbox names waits for the next holder, as no other
 * slab is empty.  If another guest holds the record, one of the two collects all.
 */
INTERNAL void visit_slab(struct owner *o, struct slab *s);

/* Collects and shrinks all vacant records of the heap.  For any thread. */
INTERNAL void visit_all(struct heap *h);

/*
 * Takeover: records whose holders are gone become vacant.  Lists that a holder was changing
 * (owner_begin) are rebuilt from the bitmaps; in a heap shared by processes all lists are.
 *
 *   lost record   --compare-and-swap of the state-->   held by the caller, as a guest
 *   if any is to be rebuilt, a walk over the heap puts each of its slabs on its list
 *   the others are right as they are
 *   its spares become ordinary slabs: a vacant record has none
 *   each record is vacated
 *
 * So a child of fork writes to what a vanished thread was changing, and not to the heap.
 *
 * The records that are taken over together are a batch.  Its number, in owner.batch,
 * distinguishes them from records that outer frames of the thread hold as a guest.
 *
 *   owner.batch   0      in no batch
 *                 even   number of the batch
 *                 odd    the same + 1: the lists must be rebuilt
 */
struct takeover {
	uint64_t number; /* 0: no record yet */
	size_t records;
	struct owner *first; /* of the records, which are added in the order of the list of owners */
};

/* An empty batch of records of one heap. */
static inline struct takeover takeover_begin(void)
{
	return (struct takeover){0, 0, NULL};
}

/* Adds a record whose state is `state`, and holds it.  False: its state has changed. */
INTERNAL bool takeover_add(struct takeover *t, struct owner *v, uint64_t state);
/* Collects or rebuilds the records of the batch and vacates them.  Returns their number. */
INTERNAL size_t takeover_end(struct takeover *t);

/*
 * Fork: a child has a copy of the memory, but only the thread that forked.  The records of
 * all other threads stay held in it by threads that do not exist there, and are taken over.
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

/*
 * Lets forks be noticed from now on (generation_watch).  Called before the second record
 * is made.  An earlier fork can lose the first record only, if a thread other than its
 * holder forks; in that child the record stays held.
 */
INTERNAL void fork_watch(struct heap *h);

/* Takes over the records of older generations; o: the caller's, checked out. */
INTERNAL void fork_settle(struct owner *o, uint64_t generation);

/* Calls fork_settle after a fork.  o: the caller's record, checked out. */
INTERNAL void fork_notice(struct owner *o);

/*
 * Reaping: records of threads that ended without ash_thread_detach are taken over,
 * and their empty slabs go back to the heap.
 *
 * The roll tells of a thread whose seat another one has by now (base/roll.h).  Of the others, madvise
 * tells whether the seat is still mapped.  So a heap that grows tests REAP_TURN records at each
 * growth, in turn.  A thread whose memory the C library keeps for the next one is found when there
 * is a next one, or by ash_trim when the caller is the only thread.
 *
 * REAP_TURN: 64 records with a slab each leave a chunk, which is what a growth gets; and 64 tests
 * cost 8 us, the first use of a chunk's 512 pages some 100 us.  With one test at each growth, a
 * program whose threads start, leave slabs behind and end made the heap double again and again:
 * the ended threads left more slabs than a growth got back.
 */
#define REAP_TURN 64

/*
 * Takes over all records whose holders have ended.  o: the caller's record, checked out, or
 * NULL.  Returns the number of records.
 */
INTERNAL size_t reap_all(struct heap *h, struct owner *o);

/* The same for the record v alone. */
INTERNAL void reap_one(struct owner *v, struct owner *o);

/* Takes over all other records, if no other thread uses this memory: asks the kernel (ash_trim). */
INTERNAL void reap_alone(struct heap *h, struct owner *o);

/* The part of reap_all that is due before the heap grows. */
INTERNAL void reap_some(struct heap *h, struct owner *o);

#endif

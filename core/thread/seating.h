/* SPDX-License-Identifier: MIT */
/*
 * Seating: a thread gets an owner record, vacant or new, with its first call, and leaves the record vacant with
 * ash_thread_detach.
 *
 *   vacant or new --seat_fill--> held --ash_thread_detach--> vacant
 *                                held --the thread ends or a fork leaves it behind, takeover--> vacant
 *                                vacant --visit--> held by a guest --visit_end--> vacant
 *
 * When a record becomes vacant, its empty slabs go back to their chunks.  Slabs with taken slots stay with the record:
 * the next holder allocates from them, other threads adopt those with free slots (adopt_slabs, refill.h), and a thread
 * that releases the last slot of a group visits the record.
 */
#ifndef CORE_SEATING_H
#define CORE_SEATING_H

#include "generation.h"
#include "internal.h"
#include "thread/owner.h"
#include "thread/seat.h"

/*
 * Gets a record of the heap for the calling thread and stores it in *self, a word of the thread's seat, which is
 * NULL if the thread has no record.  The record is then held and checked out.  Returns NULL if *self was not NULL,
 * because this call interrupted another call, or if there is no memory.
 */
INTERNAL struct owner *seat_fill(struct owner **self, struct heap *h);

/*
 * The part of seat_take for a closed seat: the thread has no record yet, or this call interrupted another one.  Gets
 * the thread its first record of the default heap and calls
 * ash_on_thread.  Returns NULL in the cases of seat_fill; the caller then uses the unowned slabs.
 */
INTERNAL struct owner *seat_slow(void);

/* Checks the thread's record out for any change, until seat_give.  Returns NULL if seat_slow does. */
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
 * Records that their threads do not hold.  Guests visit vacant records.  Records whose holders are gone, by a fork or
 * by an end without ash_thread_detach, are taken over.
 */

/*
 * Visits to vacant records.  A thread that has work for a record that no thread holds becomes its guest (seat.h),
 * does that work, and vacates the record.  No thread waits for a record that is held.
 */

/*
 * Holds the record as a guest and collects from the inbox while the record is vacant and has notifications.  For the
 * thread that vacated the record.
 */
INTERNAL void visit_vacant(struct owner *o);

/* Vacates a record that the caller holds, and then visits the record if that is due. */
INTERNAL void visit_end(struct owner *o);

/*
 * Holds a vacant record as a guest and collects from one slab.  For the thread that released the last taken slot of a
 * group of that slab.  Other entries of the inbox can wait for the next holder, because each thread that empties a
 * slab visits for it.  If
 * another guest holds the record, one of the two guests collects all.
 */
INTERNAL void visit_slab(struct owner *o, struct slab *s);

/* Collects and shrinks all vacant records of the heap.  For any thread. */
INTERNAL void visit_all(struct heap *h);

/*
 * Takeover: records whose holders are gone become vacant.  Lists that a holder was changing (owner_begin) are rebuilt
 * from the bitmaps.  In a heap shared by processes all lists are rebuilt.
 *
 *   lost record   --compare-and-swap of the state-->   held by the caller, as a guest
 *   if any record must be rebuilt, a walk over the heap puts each of its slabs on its list
 *   the lists of the other records are consistent and stay
 *   spares become ordinary slabs: a vacant record has no spares
 *   each record is vacated
 *
 * So a child of fork writes to the lists that a vanished thread was changing, and not to the heap.
 *
 * The records that are taken over together are a batch.  The number of the batch, in owner.batch, distinguishes them
 * from records that outer frames of the thread hold as a guest.
 *
 *   owner.batch   0                        in no batch
 *                 number                   in that batch; numbers are even
 *                 number | BATCH_REBUILT   in that batch, and its lists are rebuilt
 */
#define BATCH_REBUILT ((uint64_t)1)

struct takeover {
	uint64_t number; /* 0 before the first record */
	size_t records;
	struct owner *first; /* first record of the batch; records are added in the order of the list of owners */
};

/* An empty batch of records of one heap. */
static inline struct takeover takeover_begin(void)
{
	return (struct takeover){0, 0, NULL};
}

/* Adds and holds a record that has the state `state`.  Returns false if the state has changed. */
INTERNAL bool takeover_add(struct takeover *t, struct owner *v, uint64_t state);
/* Collects or rebuilds the records of the batch and vacates them.  Returns their number. */
INTERNAL size_t takeover_end(struct takeover *t);

/*
 * Fork: a child has a copy of the memory, but only the thread that forked.  In the child, the records of all other
 * threads stay held by threads that do not exist there.  These records are taken over.
 *
 *   generation   0      0      0  | fork |   1      (0)     (0)
 *   owners     main     T1     T2         main    T1: lost  T2: lost
 *
 * A record's state contains the generation of its holder (sys/generation.h), which counts forks.  The thread that
 * forked finds a new generation the next time it needs a slab of the heap, and takes over the records of older
 * generations.  Threads that the child starts before that have the new generation and leave the takeover to the
 * thread that forked, because only that thread knows that the record in its own seat is not lost.
 *
 * generation_watch is called before the second record is made.  An earlier fork can lose only the first record,
 * if a thread other than its holder forks; in that child the record stays held.
 */

/* Takes over the records of older generations.  o is the caller's record, checked out. */
INTERNAL void fork_settle(struct owner *o, uint64_t generation);

/* Calls fork_settle after a fork.  o is the caller's record, checked out. */
INTERNAL void fork_notice(struct owner *o);

/*
 * Reaping: records of threads that ended without ash_thread_detach are taken over, and their empty slabs go back to
 * the heap.
 *
 * The roll shows that a thread has ended if another thread now has its seat's address (base/roll.h).  For other threads,
 * madvise shows whether the seat is still mapped.  Therefore a heap tests REAP_TURN records at each growth, in turn.
 * If the C library keeps an ended thread's memory for the next thread, the end is found when there is a next thread,
 * or by ash_trim when the caller is the only thread.
 *
 * Why 64: 64 records with a slab each leave a chunk, which is the memory of one growth.  64 tests cost 8 us; the
 * first use of a chunk's 512 pages costs some 100 us.  With one test at each growth, a program whose threads start,
 * leave slabs behind and end made the heap double again and again, because the ended threads left more slabs than a
 * growth got back.
 */
#define REAP_TURN 64

/*
 * Takes over all records of ended holders.  o is the caller's record, checked out, or NULL.  Returns the number of
 * records.
 */
INTERNAL size_t reap_all(struct heap *h, struct owner *o);

/* Takes over the record v if the holder has ended. */
INTERNAL void reap_one(struct owner *v, struct owner *o);

/* Takes over all other records if no other thread uses this memory, which the kernel is asked (ash_trim). */
INTERNAL void reap_alone(struct heap *h, struct owner *o);

/* Tests the records that are due before the heap grows. */
INTERNAL void reap_some(struct heap *h, struct owner *o);

#endif

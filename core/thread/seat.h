/* SPDX-License-Identifier: MIT */
/*
 * The seat: thread-local words that lead to a thread's owner record, and tell whether a call of the thread is using
 * that record.
 *
 *   seat (TLS)  .open   ~0; 0 while a call of the thread uses the record
 *               .self ----> owner record (owner.h)
 *
 * Checking out.  A call reads seat.open and sets it to 0, which closes the seat.  At its end the call sets seat.open
 * to ~0 again.  These are two plain stores.  A signal handler that interrupts the call, or a child that the handler
 * forks, finds 0.  Then it allocates from unowned slabs (slab/unowned.h), and releases a block of an owned slab by its
 * remote bit, as another thread does.  Both change words by atomic read-modify-writes only.  So the structures of the
 * record need no atomic instructions.
 *
 * ash_alloc does not test for a closed seat.  The call masks the slab's ready bits by seat.open, so with a closed seat
 * the slab looks full, and the call goes to alloc_refill.  The seat of a thread
 * without a record points to `owner_none`, whose bytes are all 0, so the bins there have no slab.
 */
#ifndef CORE_SEAT_H
#define CORE_SEAT_H

#include "base/roll.h"
#include "internal.h"
#include "prereloc.h"
#include "thread/owner.h"

struct seat {
	_Alignas(16)	      /* so that roll_seat is exactly the seat's address              */
	uint64_t open;	      /* ~0 if self may be used; 0 if self is in use or is owner_none */
	struct owner *self;   /* never NULL, except as seat_is_missing says (base/variant.h) */
	struct owner *record; /* like self, but NULL if there is no record, or SEAT_BUSY      */
	unsigned guest;	      /* frames that hold another record or a slab, see visit_vacant  */
	void *latest;	      /* latest block released, see slot_predicted                    */
	uint64_t number;      /* the thread's number, see seat.c; 0 if none is drawn yet      */
#ifdef CPU_TLS_IS_COMPUTED
	char unused[CPU_EIGHTHS - 6 * sizeof(uint64_t)];
	const uint8_t small[CLASS_SMALLS]; /* a copy of class_small, see seat_small    */
#endif
};

/* The value of seat.record while the thread gets its first record: a handler of the thread must not get another record. */
#define SEAT_BUSY ((struct owner *)1)

#define SEAT_OPEN (~(uint64_t)0)

#include "seat_object.h" /* struct seat seat */

#ifdef CPU_TLS_IS_COMPUTED
_Static_assert(offsetof(struct seat, small) == CPU_EIGHTHS && SLOT_SMALL == 1024, "cpu_eighths");

static const struct seat seat_before = {0}; /* never written: self is NULL */
#define SEAT_HERE                                                                                  \
	(!PRERELOC_BY_WORD || likely(prereloc_word != 0) ? &seat : (struct seat *)(uintptr_t)&seat_before)

/* Without CPU_KEEP the compiler computes the address at each use. */
static ALWAYS_INLINE struct seat *seat_here(void)
{
	return CPU_KEEP(SEAT_HERE);
}
#define seat (*seat_here())

/*
 * class_small for a size up to SLOT_SMALL.  The call already has the seat's address in a register; a copy of the
 * table behind it makes a second address unnecessary.
 */
static ALWAYS_INLINE unsigned seat_small(size_t size)
{
	return ((const uint8_t *)seat_here())[cpu_eighths(size)];
}
#else
static ALWAYS_INLINE unsigned seat_small(size_t size)
{
	return class_small[(size + 7) / 8];
}
#endif

/* Checks the record out.  A handler must see 0 before the caller changes the record. */
static inline void seat_close(void)
{
	seat.open = 0;
	signal_fence();
}

/* Ends the check-out.  A handler that sees the seat open must see all changes of the record. */
static inline void seat_open(void)
{
	signal_fence();
	seat.open = SEAT_OPEN;
}

/* seat_open for a caller that read `opened`, known to be ~0, from seat.open before closing the seat. */
static inline void seat_open_again(uint64_t opened)
{
	(void)opened;
	signal_fence();
	seat.open = CPU_KNOWN(opened, SEAT_OPEN);
}

/*
 * The holder of an owner record: the thread that may change it, named by the word in
 * owner.state (base/roll.h).
 *
 *   vacant --owner_hold_as--> held by its thread, or by a guest --owner_vacate--> vacant
 */

/*
 * Returns the calling thread's holder word for memory that only this process uses, or 0 if the thread has no number
 * (roll.h).
 */
INTERNAL uint64_t holder_here(void);

/*
 * Return the state of a record that the calling thread holds as the thread's own or as a guest, or 0 if the thread
 * has no number.
 */
INTERNAL uint64_t holder_seated(const struct heap *h);
INTERNAL uint64_t holder_guest(const struct heap *h);

/*
 * Vacant record -> held, with this state, or by the caller as a guest.  Returns false if the record is not vacant or
 * the state is 0.
 */
INTERNAL bool owner_hold_as(struct owner *o, uint64_t state);
INTERNAL bool owner_hold(struct owner *o);
/* Held record -> vacant.  For its holder, which must then look at owner.notified (seating.h). */
INTERNAL void owner_vacate(struct owner *o);

/* Returns whether the calling thread, which had a number before, forked this process or one of its ancestors. */
INTERNAL bool holder_has_forked(void);

/*
 * Returns whether the thread with this word has certainly ended.  The thread is of this process and is not the
 * caller; `note` is process_note of the thread's record.  Makes at most one call of madvise.
 */
INTERNAL bool holder_has_ended(uint64_t word, uint64_t note);

/* Stores the ids of the calling thread in its record of the default heap, for ash_find and ashlar-look. */
INTERNAL void holder_note(struct owner *o);

#endif

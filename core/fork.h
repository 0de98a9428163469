/* SPDX-License-Identifier: MIT */
/*
 * After a fork: the child has a copy of everything and one thread.  The
 * records of the others are held by nobody who would ever let go of them.
 *
 *   generation   0      0      0  | fork |   1      (0)     (0)
 *   owners     main     T1     T2         main    T1: lost  T2: lost
 *
 * A record's state holds the generation of its holder.  The thread that
 * forked notices, the next time it needs a slab, that the mark was wiped; it
 * moves on to the next generation and takes over what older ones hold.  A
 * thread that the child starts before that already counts as the next
 * generation, since it sees the mark wiped, too; but only the one that forked
 * can tell that the record in its own seat is not lost.
 */
#ifndef CORE_FORK_H
#define CORE_FORK_H

#include "owner.h"
#include "process.h"

/* Takes over the records of vanished threads; o: the caller's, checked out. */
void fork_settle(struct owner *o);

static inline void fork_notice(struct owner *o)
{
	const uint64_t *mark = load_acquire(&o->heap->mark);

	if (unlikely(mark != NULL) && unlikely(process_has_forked(mark)))
		fork_settle(o);
}

/* Makes the mark: from the second owner on somebody can vanish. */
void fork_watch(struct heap *h);

/* The state of a record that the calling thread holds from now on. */
uint64_t holder_seated(const struct heap *h);
uint64_t holder_guest(const struct heap *h);

/*
 * From a holder that is gone: what it owned is found anew from the bitmaps,
 * and the record is left vacant.  False: the state is another by now.
 */
bool owner_take_over(struct owner *v, uint64_t state);

/*
 * Takes over the records of threads that ended without a word.  Whether one
 * did is asked by its thread id; if another thread has it by now, the record
 * waits until that one is gone, too.  o: the caller's
 * own, or NULL.  Returns the number of records.
 */
size_t owner_reap(struct heap *h, struct owner *o);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Retention: when released memory is returned to the system.
 *
 *   Released memory stays resident: it is retained, up to a quarter of options.retain, or of what is
 *   in use if that is more; and the floor.  What exceeds that goes at once: at each slow operation,
 *   by 8 MiB, until an eighth of options.retain less is left; of a span as it is released
 *   (retain_room).  So what a peak leaves goes back while it is released.
 *
 *   Of a span with huge pages less stays, as a fault brings back 2 MiB: a sixteenth of what is in use, or what
 *   brings use up to the swing.
 *
 *   The floor is for peaks that come again, not for use that exceeds its peak by far, as a growing array's.
 *   What goes is counted (heap.gone); so much of it as
 *   is then taken fresh from the system raises the floor, by twice as much, as demand varies.  The swing
 *   (heap.swing) rises so, too, but up to twice what use rose since, or a half of it; and it falls with use, once
 *   that is below three quarters of what it was when memory went (heap.low).
 *
 *   kept |  most      ___  = floor      The first peak raises nothing.  The second one
 *        |  .........|   |              takes what the first one gave back: that is the floor,
 *        |   __ ..   |   |_             and it is there for the third one.
 *        |__|  |__|__|     |__
 *        +--1st---2nd--3rd-------> time
 *
 *   A period is 8192 slow operations.  What was not needed throughout one is due at its end: all but a
 *   sixteenth of options.retain (a quarter, while there is a floor), or a quarter of what is
 *   in use.  And the floor falls by a half, unless what was retained came and went.
 *   Each slab that a call returns to its chunk is a slow operation; so while `hand` is not 0, owners
 *   avoid returning several at once.
 *
 *   A span that will be written gets the pages of whole retained chunks (retain_lend).
 *   Zeroed spans of which little was written are purged at once.  And memory taken
 *   fresh from the system is offset by purging retained memory, down to half of
 *   options.retain or that quarter, so that retention adds nothing to the peak; the floor
 *   falls by as much, as what is retained did not serve.
 *
 * So a program that alternates between two sizes faults memory in twice,
 * whatever the sizes, and one that is done with a peak has returned it by then, or two periods
 * later if it came again.  A new low restarts the period if much was taken since it began: a thread
 * that reuses retained memory will probably reuse the rest soon.
 *
 * The clock counts slow operations (calls that leave the fast path), those of threads beyond
 * the heap's first one as a sixteenth, one call in 16 (owner_count).  There is no
 * background thread, and the fast paths do not count.  So while half of options.retain more than
 * the quarter is retained, the clock is said to run (heap.running), and owners
 * are watched (thread/bin.h) from their next slow operation on: no slab stays current.  So each allocation
 * takes a slow path, where it counts if a slot of its slab was released since the last one.  So the clock
 * advances whatever the program does, and a program that allocates without releasing is not counted.
 *
 * Memory that the system refuses to purge (locked memory) is not tried again until
 * much more is retained.
 */
#ifndef CORE_RETAIN_H
#define CORE_RETAIN_H

#include "backend/region.h"
#include "internal.h"

#define RETAIN_PERIOD ((uint64_t)8192) /* slow operations */
#define RETAIN_PART   4 /* a fourth of what is in use may be retained */

/* Advances the clock by n slow operations, purges what may not stay, and begins or ends the watching of owners. */
INTERNAL void retain_tick(struct heap *h, uint64_t n);

/* So many units more may be retained, when so many are in use no more; others would be purged at once.  huge: they are a span with huge pages. */
INTERNAL uint64_t retain_room(const struct heap *h, uint64_t units, bool huge);
/* So many are in use without what was purged just now: the swing is for what comes above that. */
INTERNAL void swing_begins(struct heap *h, uint64_t used);
/* So many units were purged, as they may not stay; `used` are in use without them. */
static inline void retain_gone(struct heap *h, uint64_t units, uint64_t used)
{
	if (units != 0)
		swing_begins(h, used);
	store_relaxed(&h->gone, load_relaxed(&h->gone) + units);
}

/* `units` without memory were taken: purges as many retained ones, to offset them. */
INTERNAL void retain_fresh(struct heap *h, uint64_t units);

/*
 * Purges free chunks and free units until at most `keep` bytes of them may still be
 * resident: the newest regions and the highest addresses first, as allocation prefers
 * the lowest.  Returns the bytes.
 */
INTERNAL size_t heap_trim(struct heap *h, size_t keep);

/* The same for one chunk, the one that follows so many. */
INTERNAL size_t retain_step(struct heap *h, size_t hand);

/*
 * False: the addresses of the run are lost (PAGES_LOST).
 *
 * Lends: moves the pages of retained chunks, wherever they are, to chunks of the run that read
 * zero and so have none.  What they leave reads zero.  For the holder of a run that will be
 * written: five short system calls replace 512 page faults.  Does nothing in shared, locked or
 * very large heaps, and where pages cannot be moved.
 */
INTERNAL bool retain_lend(struct run to, size_t n);

/*
 * Each chunk moved to may be a mapping of its own, and a process has at most 65 530.  So
 * larger heaps (in chunks of address space) move none.
 */
#define LEND_MOST 8192

/* ---- retain_use.c ---- */

/*
 * Runs taken into use and given back, for spans: which of their chunks read zero, what counts as
 * retained, and what goes back to the system at once.
 */

/* Chunks for so many bytes. */
INTERNAL size_t run_chunks_for(size_t bytes);

/* Units that n chunks of the run are, to be counted as in use. */
INTERNAL size_t run_units(struct run run, size_t n);

/*
 * Accounts for a run taken into use: subtracts its retained chunks, and charges the
 * fresh ones to retention (retain_fresh).  So many bytes of it are made to read zero.
 */
INTERNAL void run_used(struct run run, size_t n, size_t zero);

/*
 * Gives back a run that a span leaves.  Of its chunks as many are retained as may be, and the others purged.
 *
 * All are purged if little was written: then this costs next to nothing, and a zeroed block from this run will need
 * next to no clearing.  Only a zeroed block is asked, and only in chunks that had no memory when it took them: there a
 * page that reads zero was not written, but for zeros.  It is the second page, and of a large run one in its middle.
 * The head stays, where no huge page would be split: the next block saves a fault, and so does the next look at the
 * second page.
 */
INTERNAL void run_leave(struct run run, size_t n, enum huge_use use);

/* Gives the run back; left: what the caller knows of its pages. */
INTERNAL void run_return(struct run run, size_t n, enum left left);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Retention: when released memory is returned to the system.
 *
 *   kept     free units that may be resident (heap.dirty)
 *   limit    a quarter of options.retain, or of the memory in use if that is more; 0 if options.retain is less than
 *            128 KiB
 *   floor    units kept beyond the limit, because as many were purged and soon taken again (heap.floor)
 *   swing    the floor of spans with huge pages: a number of units in use (heap.swing)
 *   period   8192 slow operations, that is, calls that leave the fast path (heap.clock)
 *   due      units that may stay while memory is being purged (heap.due, heap.due_at)
 *
 * - Released memory is kept up to the limit plus the floor.  The excess is purged in steps, 8 MiB in each slow
 *   operation, until limit + floor - options.retain / 8 is left; a span's part of the excess is purged as the span is
 *   released (retain_room).  So the memory of a peak goes back while it is released.
 *
 * - Of spans with huge pages less is kept, because a fault brings back 2 MiB: the most of a quarter of options.retain,
 *   a sixteenth of the memory in use, and the memory that is missing to the swing.
 *
 * - Purged memory is counted (heap.gone).  If memory is then taken fresh from the system, the floor rises (heap_again)
 *   by twice the part of it that was purged before, because demand varies.  The swing rises with the floor, but only up to
 *   twice the growth of use since memory went, or half of the memory in use.  The swing falls with use, once use is
 *   below three quarters of its value when memory went (heap.low).
 *
 *     kept |  most      ___  = floor      The first peak raises nothing.  The second peak
 *          |  .........|   |              takes the memory that the first gave back: that is
 *          |   __ ..   |   |_             the floor, and the memory is there for the third.
 *          |__|  |__|__|     |__
 *          +--1st---2nd--3rd-------> time
 *
 * - At the end of a period the memory that was kept throughout the period is purged, down to a sixteenth of
 *   options.retain (a quarter, while there is a floor), or a quarter of the memory in use.  The floor falls by a
 *   half then, unless the kept memory came and went.  Each slab that a call returns to its chunk is a slow
 *   operation, so while memory is due, owners avoid returning several slabs at once.
 *
 * - A span that will be written gets the pages of whole kept chunks (retain_lend).  Zeroed spans of which little was
 *   written are purged at once.  Memory taken fresh from the system is offset by purging kept memory, down to half
 *   of options.retain or a quarter of the memory in use, so that retention adds nothing to the peak.  The floor
 *   falls by the purged memory, because it did not serve the demand.
 *
 * So a program that alternates between two sizes faults memory in twice, whatever the sizes.  A program that
 * is done with a peak has returned its memory at the end of a period, or two periods later if the peak came
 * again.  A new minimum restarts the period if much was taken since the period began, because a thread that
 * reuses kept memory will probably reuse the rest soon.
 *
 * All threads of a heap advance its clock, at each 16th slow operation of a thread (owner_count).  The operations of
 * threads beyond the heap's first thread count as a sixteenth.  There is no background thread, and the fast paths do
 * not count.  So while the kept memory exceeds the limit by half of options.retain, the clock is said to run
 * (heap.running): owners are watched (thread/bin.h) from their next slow operation on, and no slab stays current.
 * Then each allocation takes a slow path, where it counts if a slot of its slab was released since the last
 * allocation.  So the clock advances whatever the program does, and a program that allocates without releasing is not
 * counted.
 *
 * Memory that the system refuses to purge (locked memory) is not tried again until much more is kept.
 */
#ifndef CORE_RETAIN_H
#define CORE_RETAIN_H

#include "backend/region.h"
#include "internal.h"

#define RETAIN_PERIOD ((uint64_t)8192) /* slow operations */
#define RETAIN_PART   4 /* a quarter of the memory in use may be retained */

/*
 * Advances the clock by n slow operations, purges the memory that may not stay, and begins or ends the
 * watching of owners.
 */
INTERNAL void retain_tick(struct heap *h, uint64_t n);

/*
 * Returns how many units more may be retained when `units` go out of use; the others would be purged at once.
 * `huge`: the units are a span with huge pages.
 */
INTERNAL uint64_t retain_room(const struct heap *h, uint64_t units, bool huge);
/* Called after a purge, with the units that are still in use: the swing serves use above that. */
INTERNAL void swing_begins(struct heap *h, uint64_t used);
/* Counts `units` as purged because they may not stay; `used` are in use without them. */
static inline void retain_gone(struct heap *h, uint64_t units, uint64_t used)
{
	if (units != 0)
		swing_begins(h, used);
	store_relaxed(&h->gone, load_relaxed(&h->gone) + units);
}

/* Called when `units` without memory were taken: purges an equal number of retained units, to offset them. */
INTERNAL void retain_fresh(struct heap *h, uint64_t units);

/*
 * Purges free chunks and free units until at most `keep` bytes of them may still be resident.  Begins with
 * the newest regions and the highest addresses, because allocation prefers the lowest.  Returns the number of
 * bytes.
 */
INTERNAL size_t heap_trim(struct heap *h, size_t keep);

/* Like heap_trim to 0, for the single chunk after the first `at` chunks. */
INTERNAL size_t retain_step(struct heap *h, size_t at);

/*
 * Lends: moves the pages of retained chunks, wherever they are, to chunks of the run that read zero and so
 * have no pages.  The chunks that they leave read zero.  For the holder of a run that will be written: five
 * short system calls replace 512 page faults.  Does nothing in shared, locked or very large heaps, and where
 * pages cannot be moved.  Returns false if the addresses of the run are lost (PAGES_LOST).
 */
INTERNAL bool retain_lend(struct run to, size_t n);

/*
 * Each chunk moved to may be a mapping of its own, and a process has at most 65 530.  So larger heaps (in
 * chunks of address space) move no pages.
 */
#define LEND_MOST 8192

/* ---- retain_use.c ---- */

/*
 * Runs taken into use and given back, for spans: the chunks of a run that read zero, the memory that counts
 * as retained, and the memory that goes back to the system at once.
 */

/* Returns the number of chunks for these bytes. */
INTERNAL size_t run_chunks_for(size_t bytes);

/* Returns the number of units that n chunks of the run count as in use. */
INTERNAL size_t run_units(struct run run, size_t n);

/*
 * Accounts for a run taken into use: subtracts its retained chunks, and charges the fresh ones to retention
 * (retain_fresh).  Makes the first `zero` bytes read zero.
 */
INTERNAL void run_used(struct run run, size_t n, size_t zero);

/*
 * Gives back a run that a span leaves.  Retains as many of its chunks as may stay, and purges the others.
 *
 * If little of the run was written, all its chunks are purged: that costs next to nothing, and a zeroed block
 * from this run will need next to no clearing.  The test reads the second page, and of a large run a page in
 * its middle.  It tests only zeroed blocks, and only chunks that had no memory when the block took them: a
 * page there that reads zero was not written, except with zeros.  The head stays if that splits no huge page:
 * the next block saves a fault, and so does the next test of the second page.
 */
INTERNAL void run_leave(struct run run, size_t n, enum huge_use use);

/* Gives the run back; `left` tells which of its pages read zero. */
INTERNAL void run_return(struct run run, size_t n, enum left left);

#endif

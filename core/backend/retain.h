/* SPDX-License-Identifier: MIT */
/*
 * Retention: when released memory is returned to the system.
 *
 *   Released memory stays resident: it is retained.  The part that was not needed
 *   throughout a period (8192 slow operations) is due at its end, but for a rest that stays.
 *   What is due is purged by 8 MiB a slow operation; when it is gone the next period begins.
 *   Each slab that a call returns to its chunk is one; so while `hand` is not 0, owners avoid
 *   returning several at once.
 *   The rest is half of options.retain if more than options.retain is retained, and more than
 *   a quarter of what is in use.  Else it is a sixteenth of options.retain; owners do not watch
 *   then (below), so only operations that are slow anyway are counted.  In both cases it
 *   is a quarter of what is in use, if that is more.
 *   A span that will be written gets the pages of whole retained chunks (retain_lend).
 *   Large spans of which little was written are purged at once.  And memory taken
 *   fresh from the system is offset by purging retained memory, down to half of
 *   options.retain or that quarter, so that retention adds nothing to the peak.
 *
 *   kept |      ____          ____
 *        |     |    |___     |    |        ____
 *        |_____|........|____|....|_______|....|______  low: the least of a period
 *        +--------------------------------------------> slow operations
 *
 * So a program that alternates between two sizes never faults memory in again,
 * whatever the sizes, and one that is done with a peak has returned it two periods
 * later.  A period is about as long as what it saves: faulting in 10 MiB takes 2 ms
 * and more, 8192 slow operations take 0.2 ms and more.  A new low restarts the period
 * if much was taken since it began: a thread that reuses retained memory will
 * probably reuse the rest soon.
 *
 * The clock counts slow operations (calls that leave the fast path), those of threads beyond
 * the heap's first one as a sixteenth, one call in 16 (watch_count).  There is no
 * background thread, and the fast paths do not count.  So while more than options.retain, and
 * more than that quarter, is retained, the clock is said to run (heap.running), and owners
 * watch (thread/watch.h): the group that a bin allocates from is not marked ready, so each
 * release into it is an event (slab_has_event), and events count.  A program that continues
 * causes no event only while it releases older slots of other groups or takes free slots
 * of the current groups, of which each class has at most 64.  So the clock advances
 * whatever the program does; and one that allocates without releasing pays nothing.
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

/* Advances the clock by n slow operations, and begins or ends what owners watch for. */
INTERNAL void retain_tick(struct heap *h, uint64_t n);

/* `units` without memory were taken: purges as many retained ones, to offset them. */
INTERNAL void retain_fresh(struct heap *h, uint64_t units);

/*
 * Purges free chunks and free units until at most `keep` bytes of them may still be
 * resident: the newest regions and the highest addresses first, as allocation prefers
 * the lowest.  Returns the bytes.
 */
INTERNAL size_t heap_trim(struct heap *h, size_t keep);

/*
 * Lends: moves the pages of retained chunks, wherever they are, to chunks of the run that read
 * zero and so have none.  What they leave reads zero.  For the holder of a run that will be
 * written: three short system calls replace 512 page faults.  Does nothing in shared, locked or
 * very large heaps, and where pages cannot be moved.
 */
INTERNAL void retain_lend(struct run to, size_t n);

/*
 * Each chunk moved to may be a mapping of its own, and a process has at most 65 530.  So
 * larger heaps (in chunks of address space) move none.
 */
#define LEND_MOST 8192

#endif

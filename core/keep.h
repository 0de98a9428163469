/* SPDX-License-Identifier: MIT */
/*
 * The rule of giving back.
 *
 *   Released memory stays backed: it is kept.  What nobody needed throughout
 *   a period (KEEP_PERIOD slow operations since somebody last needed more) goes
 *   at its end, if that is more than options.retain, until half of that is
 *   kept; blocks of which little was written go at once.  And what is taken
 *   fresh from the system is paid for with kept memory, down to the same half,
 *   so that keeping adds nothing to the peak.
 *
 *   kept |      ____          ____
 *        |     |    |___     |    |        ____
 *        |_____|........|____|....|_______|....|______  low: the least of a period
 *        +--------------------------------------------> slow operations
 *
 * So a program that goes to and fro between two sizes faults nothing in
 * again, whatever the sizes, and one that is done with a peak is rid of it
 * two periods later.  A period costs about what is at stake: to fault in
 * 10 MiB takes 2 ms and more, 8192 slow operations take 0.5 ms and more.  A new
 * low begins it anew: who takes kept memory, however slow its operations were
 * made (see below), is about to take the rest.
 *
 * The clock stands while no more than options.retain is kept.  There is no
 * background thread, and the fast paths tell nobody, so while the clock runs,
 * bins let go of their slab after each allocation: the next one is slow, and
 * counts.  That is done at most KEEP_HURRY times for each unit that was taken
 * fresh: two periods for 64 MiB, and a tenth of what their faults took.
 *
 * What the system refuses to take (locked memory) is not asked for again
 * until much more is kept.
 */
#ifndef CORE_KEEP_H
#define CORE_KEEP_H

#include "heap.h"

#define KEEP_PERIOD ((uint64_t)8192)
#define KEEP_HURRY  8

/* So many slow operations were done.  True: bins are to let go of their slabs. */
bool keep_tick(struct heap *h, uint64_t n);

/* So many units were taken that no process memory stands behind yet. */
void keep_fresh(struct heap *h, uint64_t units);

#endif

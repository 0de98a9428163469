/* SPDX-License-Identifier: MIT */
/*
 * The rule of giving back.
 *
 *   Released memory stays backed: it is kept.  What nobody needed throughout
 *   a period (KEEP_PERIOD slow operations) goes at its end, if that is more
 *   than options.retain, until half of that is kept; blocks of which little was written
 *   go at once.  And what is taken fresh from the system is paid for with
 *   kept memory, down to the same half, so that keeping adds nothing to the
 *   peak.
 *
 *   kept |      ____          ____
 *        |     |    |___     |    |        ____
 *        |_____|........|____|....|_______|....|______  low: the least of a period
 *        +--------------------------------------------> slow operations
 *
 * So a program that goes to and fro between two sizes faults nothing in
 * again, whatever the sizes, and one that is done with a peak is rid of it
 * two periods later.  The clock stands while no more than options.retain is
 * kept.  There is no background thread, and the fast paths tell nobody, so
 * while the clock runs, bins let go of their slab after each allocation: the
 * next one is slow, and counts.  That is done at most once for each unit
 * that was taken fresh, and costs a hundredth of what its faults did.
 *
 * What the system refuses to take (locked memory) is not asked for again
 * until much more is kept.
 */
#ifndef CORE_KEEP_H
#define CORE_KEEP_H

#include "heap.h"

#define KEEP_PERIOD ((uint64_t)512)

/* So many slow operations were done.  True: bins are to let go of their slabs. */
bool keep_tick(struct heap *h, uint64_t n);

/* So many units were taken that no process memory stands behind yet. */
void keep_fresh(struct heap *h, uint64_t units);

#endif

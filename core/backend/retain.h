/* SPDX-License-Identifier: MIT */
/*
 * The rule of giving back.
 *
 *   Released memory stays backed: it is kept.  What nobody needed throughout
 *   a period (RETAIN_PERIOD slow operations since somebody last needed more) goes
 *   at its end, if more than options.retain is kept, until half of that is
 *   left; blocks of which little was written go at once.  And what is taken
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
 * 10 MiB takes 2 ms and more, 8192 slow operations take 0.2 ms and more.  A new
 * low begins it anew, if much was taken since it began: then who takes kept
 * memory is about to take the rest.
 *
 * The clock runs from when more than options.retain is kept until half of that
 * is.  There is no background thread, and the fast paths tell nobody, so
 * meanwhile owners watch the group that a bin allocates from: it is not marked
 * ready, so that each release into it is an event (slab_has_event), and counts.
 * A program that goes on can do without events for as long only as it finds
 * slots taken before in other groups, or free ones in the current groups: there
 * are at most 64 for each class.  So whatever it does, the clock runs; and who
 * takes memory without releasing any pays nothing for that.
 *
 * What the system refuses to take (locked memory) is not asked for again
 * until much more is kept.
 */
#ifndef CORE_KEEP_H
#define CORE_KEEP_H

#include "backend/heap.h"

#define RETAIN_PERIOD ((uint64_t)8192)

/* So many slow operations were done.  True: the clock runs. */
bool retain_tick(struct heap *h, uint64_t n);

/* So many units were taken that no process memory stands behind yet. */
void retain_fresh(struct heap *h, uint64_t units);

/*
 * Gives memory back until at most `keep` bytes of what is free may still be
 * backed: whole chunks and free units, the newest regions and the highest
 * addresses first, as allocation prefers the lowest.  Returns the bytes.
 */
size_t heap_trim(struct heap *h, size_t keep);

#endif

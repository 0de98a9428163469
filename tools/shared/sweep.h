/* SPDX-License-Identifier: MIT */
/*
 * What dead workers have left: blocks that they allocated and that nobody can
 * reach.  In this order, for who is at work meanwhile:
 *
 *   1  recover    what a worker was in the middle of inside the heap is settled
 *   2  table      every entry in it is reachable
 *   3  limbo      and so is what a living process is about to release
 *   4  walk       any other block whose allocator was dead before 1 is lost:
 *                 nobody can put it into the table again, and had another
 *                 process released it, it would not be the dead one's any more
 *   5  readers    somebody may still be reading it, having found it before it
 *                 was unlinked: then the next sweep looks again
 *   6  release    the parent's to do, as the allocator is dead and nobody
 *                 living has it in its limbo
 */
#ifndef SWEEP_H
#define SWEEP_H

#include "table.h"

struct swept {
	size_t records; /* of dead workers, taken over by the heap's survivors  */
	size_t blocks;  /* released */
};

/*
 * living: the pids that were forked and not yet waited for; all: no worker is
 * left, so that what nobody is known to have allocated is lost, too.
 */
void sweep(struct session *parent, const long *living, bool all, struct swept *sum);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The unowned slabs: slots from slabs that nobody owns.  For calls that have
 * no owner: a signal handler that interrupted another call, a thread whose
 * owner record could not be made.  Swaps on bitmap words and nothing else, so
 * it may itself be interrupted anywhere.
 *
 *   no slab: words 0 --mark--> head entered, then bits set --mark off--> there
 *        ^                                                                |
 *        +------- head taken out <--- all bits taken by one thread <--mark-+
 *
 * A caller may be stopped with the slab's address in hand, for any time.  So
 * these slabs have records of their own, and their words change by
 * read-modify-writes only, of which holds:
 *
 *   a free bit is set only while the slab is there: it is set after the slab is
 *   published, and whoever unmakes the slab has taken all bits first
 *
 * Who takes a bit, however late, therefore has a slot of the slab that is there
 * now, which stays what it is until the bit is given back.  Only its class may be
 * another than the one that was looked for: asked when the slot is taken.
 *
 * Who makes or unmakes marks the owner word meanwhile: one at a time, and others need
 * not take for blocks what it holds, nor allocate there.  Who vanishes there, in a child of
 * fork or by a jump out of a handler, keeps this one slab; of one that dies in a heap
 * shared by processes it is found (lost_memory.h).
 */
#ifndef CORE_SHARED_H
#define CORE_SHARED_H

#include "slab/slab.h"

/* A slot; NULL: no memory. */
void *unowned_slot(struct heap *h, unsigned class);

/* A slot of the slabs that there are; NULL: none is free. */
void *shared_rest(struct heap *h, unsigned class);

/*
 * False: it was free already.  A slab that is empty then goes back, but for one
 * that is about to be used again.
 */
bool unowned_free(struct slab *s, uint64_t index);

/* All that are empty go back; how many. */
size_t unowned_shrink(struct heap *h);

#endif

/* SPDX-License-Identifier: MIT */
/* The slow path of an allocation: the next group, the next slab, a new slab. */
#ifndef CORE_REFILL_H
#define CORE_REFILL_H

#include "thread/owner.h"

/* A slot of the class; NULL: no memory.  clean: it is known to read zero. */
void *owner_slot(struct owner *o, unsigned class, bool *clean);

/* Finds the bin a free slot, from the cheapest source to the dearest. */
bool bin_refill(struct owner *o, unsigned class);

#endif

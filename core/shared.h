/* SPDX-License-Identifier: MIT */
/*
 * The shared route: slots from slabs that nobody owns.  For calls that have
 * no owner: a signal handler that interrupted another call, a thread whose
 * owner record could not be made.  Swaps on bitmap words and nothing else, so
 * it may itself be interrupted anywhere.
 *
 * A shared slab stays one for ever: a caller that was stopped with its
 * address in hand must find it such when it goes on.
 */
#ifndef CORE_SHARED_H
#define CORE_SHARED_H

#include "slab.h"

/* A slot; NULL: no memory. */
void *shared_slot(struct heap *h, unsigned class);

/* False: it was free already. */
bool shared_free(struct slab *s, uint64_t index);

#endif

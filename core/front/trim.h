/* SPDX-License-Identifier: MIT */
/* Giving memory back to the system on request. */
#ifndef CORE_TRIM_H
#define CORE_TRIM_H

#include "internal.h"
#include "thread/owner.h"

/* heap_gather (thread/refill.h) and heap_trim (retain.h); purges pages inside slabs, too, if o is not NULL. */
INTERNAL size_t heap_give_back(struct heap *h, struct owner *o, size_t keep);

#endif

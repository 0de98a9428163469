/* SPDX-License-Identifier: MIT */
/* The checker of all heaps but arenas. */
#ifndef CORE_CHECK_H
#define CORE_CHECK_H

#include "backend/heap.h"

/* As ash_check; o: the caller's record, checked out, or NULL. */
INTERNAL int heap_check(struct heap *h, const struct owner *o);

#endif

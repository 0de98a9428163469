/* SPDX-License-Identifier: MIT */
/*
 * Shrinking: the empty slabs of a record go back to the heap, and its bins detach their
 * slabs, so that slots of older slabs are taken first.
 */
#ifndef CORE_SHRINK_H
#define CORE_SHRINK_H

#include "internal.h"
#include "thread/owner.h"

/* Unmakes all empty slabs, cached ones too, and detaches all bins.  For the holder. */
INTERNAL void shrink_owner(struct owner *o);

/* Collects and shrinks all vacant records of the heap, as a guest.  For any thread. */
INTERNAL void shrink_vacant(struct heap *h);

/* Collects from the inbox and shrinks.  For a holder that is about to vacate. */
INTERNAL void shrink_before_vacate(struct owner *o);

#endif

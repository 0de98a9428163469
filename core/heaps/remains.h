/* SPDX-License-Identifier: MIT */
/*
 * What remains of the private heaps that were destroyed last: a mark each, so that a late call is reported, and the
 * memory of their first regions, for the next heaps.
 *
 *   heap --destroy--> mark [regions, owners] --the fifth destroy after it--> spare record
 *                             |                                                  |
 *                             +---------------------> next heap <----------------+
 *
 * So a program that makes a heap for each request takes no page fault for that.  Who exchanges the word of an
 * entry with 0 is alone with the mark; none waits.
 */
#ifndef CORE_REMAINS_H
#define CORE_REMAINS_H

#include "backend/heap.h"
#include "internal.h"

/* A zeroed heap record; NULL: no memory. */
INTERNAL struct heap *remains_record(void);
/* The heap, which is configured and known to nobody, may get memory that is still mapped. */
INTERNAL void remains_use(struct heap *h);
/* Gives all of that memory back; returns the bytes that may have been resident. */
INTERNAL size_t remains_trim(void);
/* The heap, in which no thread has a seat, goes: its record becomes a mark, and of its memory remains what retention allows. */
INTERNAL void remains_leave(struct heap *h);

#endif

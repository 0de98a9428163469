/* SPDX-License-Identifier: MIT */
/*
 * Remains of the private heaps that were destroyed last: a mark for each heap, so that a late call is reported, and
 * the memory of their first regions, for the next heaps.
 *
 *   heap --destroy--> mark [regions, owners] --the fifth destroy after it--> spare record
 *                             |                                                  |
 *                             +---------------------> next heap <----------------+
 *
 * So a program that makes a heap for each request takes no page fault for the heap.  A thread that exchanges the word
 * of an entry with 0 has the mark alone; no thread waits.
 */
#ifndef CORE_REMAINS_H
#define CORE_REMAINS_H

#include "backend/heap.h"
#include "internal.h"

/* Returns a zeroed heap record, or NULL if there is no memory. */
INTERNAL struct heap *remains_record(void);
/* Gives memory that is still mapped, if any, to the heap, which is configured and known to no other thread. */
INTERNAL void remains_use(struct heap *h);
/* Releases all of that memory.  Returns the bytes that may have been resident. */
INTERNAL size_t remains_trim(void);
/*
 * Ends the heap, in which no thread has a seat: its record becomes a mark, and the mark keeps as much of its memory
 * as retention allows.
 */
INTERNAL void remains_leave(struct heap *h);

#endif

/* SPDX-License-Identifier: MIT */
/* Entries in the benches of the calling thread: one for each heap that it uses. */
#ifndef CORE_SEAT_ENTRIES_H
#define CORE_SEAT_ENTRIES_H

#include "shm/seat_page.h"

/*
 * The calling thread's entry for the heap, made if necessary.  NULL: no memory, or a call
 * that the caller interrupted is making one.
 */
INTERNAL struct seat_entry *seat_entry_for(struct heap *h);

#endif

/* SPDX-License-Identifier: MIT */
/* A heap leaves the process: the seats of all its threads are emptied. */
#ifndef CORE_SEATS_CLOSE_H
#define CORE_SEATS_CLOSE_H

#include "backend/heap.h"

/*
 * No thread of the process is in a call on the heap, and none has a seat there afterwards.
 * The records of a shared heap that sat there are vacated.
 */
INTERNAL void seats_close(struct heap *h);

#endif

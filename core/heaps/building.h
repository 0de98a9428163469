/* SPDX-License-Identifier: MIT */
/*
 * Building: a thread is changing more than slots in a heap that the program created, that is, units, chunks, slabs or
 * the lists of a record.  In a heap of this process the thread's record says so (owner_begin); in a heap that
 * processes share, the functions of its table do (kind.h).
 */
#ifndef CORE_BUILDING_H
#define CORE_BUILDING_H

#include "backend/heap.h"
#include "internal.h"
#include "thread/owner.h"

/* A section of a call.  In a heap of this process only `word` is used. */
struct building {
	uint64_t *word; /* NULL if an interrupted or outer call ends the section, or no call does */
	unsigned as;	/* BUILDING_PRIVATE, or a number of the hooks                             */
	unsigned kept;	/* places of holds that belong to an outer call                           */
	uint64_t *holds, *before; /* places for holds (backend/hold.h), now and before            */
};
#define BUILDING_PRIVATE 0

/*
 * Between building_begin and building_end the caller may change units, chunks and slabs.  o is the caller's record,
 * or NULL.
 */
INTERNAL struct building building_begin(struct heap *h, struct owner *o);
INTERNAL void building_end(struct building b);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Who holds a record: the words in owner.state.
 *
 *   a heap of one process
 *   63 ........ 38 | 37 ......... 2 |   1   |  0
 *   generation     | thread number  | guest | held
 *
 *   a heap shared by processes
 *   63 ......................... 2 |   1   |  0
 *   life of the thread (life.h)    | guest | held
 *
 *   generation   of the holder (generation.h): of an older one only the record
 *                of the thread that forked has a holder still
 *   number       counted up by this memory, and drawn once by each thread.  No two
 *                threads that ever use this memory have the same, whatever the
 *                system calls them; a child of fork counts on
 *   guest        held for a moment only, by a thread that sits elsewhere
 */
#ifndef CORE_HOLDER_H
#define CORE_HOLDER_H

#include "generation.h"
#include "thread/owner.h"

#define OWNER_STAMP (64 - GENERATION_BITS)

static inline uint64_t holder_generation(uint64_t state)
{
	return state >> OWNER_STAMP;
}

/* The state of a record that the calling thread holds from now on, as its own or as a guest. */
INTERNAL uint64_t holder_seated(const struct heap *h);
INTERNAL uint64_t holder_guest(const struct heap *h);

/* True: the caller is the thread that forked this process, or one of its ancestors. */
INTERNAL bool holder_has_forked(void);

/* The record is the caller's: what the kernel calls the caller is entered in it, if it can be told. */
INTERNAL void holder_identify(struct owner *o);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Seats of a thread in heaps that the program made: a page for each thread,
 * one for heaps of this process and one for heaps shared by processes.
 *
 *   page   [mark | id, seat | id, seat | ...]     found by the heap's id
 *
 * The page for shared heaps is wiped by fork.  So a child never finds its
 * parent's seats, whose records the parent goes on to use, and gets its own.
 * A seat that finds no place displaces another; the record of that one is
 * found again by its state (owner_acquire).
 */
#ifndef CORE_SEATS_H
#define CORE_SEATS_H

#include "owner.h"

/*
 * Checks the thread's record out of its seat, *t; NULL: no memory, no place, or
 * an interrupted call: the shared route.
 */
struct owner *seats_take(struct heap *h, struct seat **t);

static inline void seats_give(struct seat *t, struct owner *o)
{
	signal_fence(); /* see seat_give */
	t->owner = o;
}

/* The life of the calling thread, see life.h. */
uint64_t seats_life(void);

/* The thread's pages go back; records that sit there wait for owner_reap. */
void seats_end(void);

/* The record of the calling thread, also when it is checked out; NULL: none. */
struct owner *seats_self(struct heap *h);

/* In tests: as in a process that was just forked. */
void seats_forget(void);

#endif

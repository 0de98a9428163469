/* SPDX-License-Identifier: MIT */
/*
 * Holds: the memory that a thread that changes more than slots is about to take out of all bitmaps, or has
 * taken.
 *
 * Only in heaps that processes share, where the thread may die in between (shared_hooks.hold).  A hold is
 * noted before its memory is taken.  It is dropped after the memory is free, or in use, or could not be
 * taken.
 *
 *   63 ............. 30 | 29 ....... 2 | 1 .. 0
 *   chunks              | first chunk  | HOLD_CHUNKS
 *   first, count        | chunk        | HOLD_UNITS     units, and the slab that begins in the first unit
 *   unit, slot          | chunk        | HOLD_SLOT      of the unowned slab that begins in the unit
 *                       | number       | HOLD_RECORD    of an owner record
 */
#ifndef CORE_HOLD_H
#define CORE_HOLD_H

#include "backend/heap.h"
#include "internal.h"

enum { HOLD_CHUNKS, HOLD_UNITS, HOLD_SLOT, HOLD_RECORD };

#define HOLD_KIND     ((uint64_t)3)
#define HOLD_AT       2  /* shift */
#define HOLD_AT_BITS  28
#define HOLD_MORE     (HOLD_AT + HOLD_AT_BITS) /* shift */
#define HOLD_PLACE    8  /* shift of counts and slots, above the number of the (first) unit */
_Static_assert(CPU_ADDRESS_BITS - CHUNK_SHIFT <= HOLD_AT_BITS, "each chunk of a store has a number");

/* The result is never 0, because n is not 0. */
static inline uint64_t hold_chunks(size_t first, size_t n)
{
	return (uint64_t)n << HOLD_MORE | (uint64_t)first << HOLD_AT | HOLD_CHUNKS;
}

static inline uint64_t hold_units(const struct chunk *c, unsigned first, unsigned n)
{
	return ((uint64_t)n << HOLD_PLACE | first) << HOLD_MORE | (uint64_t)load_relaxed(&c->index) << HOLD_AT | HOLD_UNITS;
}

static inline uint64_t hold_slot(const struct slab *s, uint64_t index)
{
	return (index << HOLD_PLACE | load_relaxed(&s->unit)) << HOLD_MORE |
	       (uint64_t)load_relaxed(&load_relaxed(&s->chunk)->index) << HOLD_AT | HOLD_SLOT;
}

static inline uint64_t hold_record(uint64_t number)
{
	return number << HOLD_AT | HOLD_RECORD;
}

/* Each notes the hold, or drops the note.  They do nothing in a heap of one process. */
INTERNAL void hold_run(struct run run, size_t n, bool notes);
INTERNAL void hold_some(const struct chunk *c, unsigned first, unsigned n, bool notes);
INTERNAL void hold_one(const struct slab *s, uint64_t index, bool notes);

#endif

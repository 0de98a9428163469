/* SPDX-License-Identifier: MIT */
/*
 * The functions that the allocator calls for heaps shared by processes (backend/shared.h and heaps/kind.h say when), and
 * the calls of ashlar_heap.h and ashlar_heap_file.h that only these heaps have.
 */
#ifndef CORE_HOOKS_H
#define CORE_HOOKS_H

#include "store/allocator.h"
#include "store/file/store.h"

struct building;
struct seat_entry;

INTERNAL_EXTERN const struct shared_hooks store_hooks;
INTERNAL_EXTERN const struct instance_kind instance_shared;

/* ---- hooks_blocks.c, hooks_free.c ---- */

/*
 * Notes the block that the record's holder is taking or releasing; NULL if that is done.  Release keeps the order among
 * the stores of a call; it pairs with owner_hold_as of the thread that recovers the record (recover_settle).
 */
static ALWAYS_INLINE void flight_set(struct owner *o, const void *p)
{
	store_release(&truth_of(o)->flight, (uint64_t)(uintptr_t)p);
}

INTERNAL void *hooks_alloc(struct heap *h, size_t size);
INTERNAL void *hooks_slot_take(struct owner *o, struct bin *b, bool *clean, void *draft);
INTERNAL uint64_t hooks_taking(struct heap *h, struct owner *self, const void *draft);
INTERNAL void hooks_taken(void *p, uint64_t tag, void *draft);
INTERNAL bool hooks_release_own(struct heap *h, struct chunk *c, void *p);
INTERNAL void hooks_release(struct heap *h, void *p);
INTERNAL bool hooks_free_block(struct heap *h, struct owner *o, struct owner *self, struct chunk *c, void *p, bool drafted);

/* ---- hooks_seats.c ---- */

INTERNAL struct owner *hooks_seat_fill(struct heap *h, struct seat_entry *t);
INTERNAL void hooks_rests(struct owner *o);
INTERNAL void hooks_seat_closed(struct heap *h, struct owner *o, uint64_t life);

/* ---- hooks_heap.c ---- */

INTERNAL bool hooks_extend(struct heap *h, size_t capacity);
INTERNAL size_t hooks_release_owner(struct heap *h, uint64_t owner);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The functions that the allocator calls for heaps shared by processes (backend/shared.h says when), and the calls
 * of ashlar_heap.h and ashlar_heap_file.h that only these heaps have.
 */
#ifndef CORE_HOOKS_H
#define CORE_HOOKS_H

#include "store/allocator.h"

struct building;
struct seat_entry;
struct slot_ref;

INTERNAL_EXTERN const struct shared_hooks store_hooks;

/* ---- hooks_blocks.c ---- */

INTERNAL void *hooks_alloc(struct heap *h, size_t size);
INTERNAL void *hooks_slot_take(struct owner *o, struct bin *b, bool *clean, void *draft);
INTERNAL uint64_t hooks_taking(struct heap *h, struct owner *self, const void *draft);
INTERNAL void hooks_taken(void *p, uint64_t tag, void *draft);
INTERNAL bool hooks_release_own(struct heap *h, struct chunk *c, void *p);
INTERNAL void hooks_release(struct heap *h, void *p);
INTERNAL void hooks_releasing(struct owner *o, const void *p);
INTERNAL bool hooks_free_unowned(struct heap *h, struct owner *self, const struct slot_ref *at);
INTERNAL bool hooks_free_remote(struct heap *h, struct owner *o, struct owner *self, const struct slot_ref *at, bool drafted);

/* ---- hooks_seats.c ---- */

INTERNAL struct owner *hooks_seat_fill(struct heap *h, struct seat_entry *t);
INTERNAL void hooks_rests(struct owner *o);
INTERNAL void hooks_seat_closed(struct heap *h, struct owner *o, uint64_t life);

/* ---- hooks_heap.c ---- */

INTERNAL bool hooks_extend(struct heap *h, size_t capacity);
INTERNAL size_t hooks_release_owner(struct heap *h, uint64_t owner);

#endif

/* SPDX-License-Identifier: MIT */
/* What follows when slots of an owner get free: lists, spares, empty slabs. */
#ifndef CORE_SETTLE_H
#define CORE_SETTLE_H

#include "thread/owner.h"

/* After a slot of an full slab, or the last one of a group, was freed. */
void owner_settle(struct owner *o, struct slab *s, bool was_full);

/* Spares down to so many units; what is still empty goes back to the heap. */
void spares_keep(struct owner *o, unsigned units);
/* The slab is empty: keeps it, at the cost of older ones, or gives it back. */
void spares_add(struct owner *o, struct slab *s);

/* A slot of the group was freed, `word` is what its word becomes: with all that may follow. */
void owner_freed(struct owner *o, struct slab *s, uint64_t group, uint64_t word);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Doubly linked lists of slabs.  The tail's `next` is NULL, the head's `previous` is the tail, so
 * that a list is one word.  A slab is on one list at most.  For the holder of the record that
 * the list belongs to.
 */
#ifndef CORE_SLAB_LIST_H
#define CORE_SLAB_LIST_H

#include "base/layout.h"
#include "internal.h"

struct slabs {
	struct slab *head;
};

/* The tail; NULL: the list is empty. */
static inline struct slab *slabs_tail(const struct slabs *l)
{
	return l->head == NULL ? NULL : l->head->previous;
}

/* Adds a slab that is on no list, at the tail. */
INTERNAL void slabs_append(struct slabs *l, struct slab *s);
INTERNAL void slabs_remove(struct slabs *l, struct slab *s);
/* Moves what is before this slab of the list behind all others: s becomes the head. */
INTERNAL void slabs_rotate(struct slabs *l, struct slab *s);

#endif

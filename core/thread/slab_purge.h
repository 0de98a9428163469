/* SPDX-License-Identifier: MIT */
/* Hollow slabs: whole pages of free slots beside taken ones. */
#ifndef CORE_SLAB_PURGE_H
#define CORE_SLAB_PURGE_H

#include "thread/owner.h"

/*
 * Purges the pages of the owner's slabs on which no slot is taken, but for
 * the first *room bytes of them; *room is reduced by those.  For the holder
 * of the record: nobody else can take a slot there, so the bitmaps need not
 * change.  Returns the bytes given back.
 */
size_t slabs_purge(struct owner *o, size_t *room);

/*
 * The same for all slabs of others but those that they allocate from now: each is
 * held for a moment (slab.h), and its owner, if it wants it just then, takes another.
 * The first one is for one slab.
 */
size_t slabs_purge_held(struct heap *h, struct slab *s, size_t *room);
size_t slabs_purge_others(struct heap *h, const struct owner *o, size_t *room);

#endif

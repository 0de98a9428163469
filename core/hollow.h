/* SPDX-License-Identifier: MIT */
/* Hollow slabs: whole pages of free slots beside taken ones. */
#ifndef CORE_HOLLOW_H
#define CORE_HOLLOW_H

#include "owner.h"

/*
 * Purges the pages of the owner's slabs on which no slot is taken, but for
 * the first *room bytes of them; *room is reduced by those.  For the holder
 * of the record: nobody else can take a slot there, so the bitmaps need not
 * change.  Returns the bytes given back.
 */
size_t hollow_purge(struct owner *o, size_t *room);

#endif

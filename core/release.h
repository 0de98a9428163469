/* SPDX-License-Identifier: MIT */
/* From a pointer to what it is. */
#ifndef CORE_RELEASE_H
#define CORE_RELEASE_H

#include "misuse.h"
#include "owner.h"

/* The slot that starts at p in a slab of this chunk; false: there is none. */
bool place_find(const struct chunk *c, const void *p, struct place *at);
bool place_is_taken(const struct place *at);

/*
 * Into another owner's slab.  False: it was free already.  *vacant: NULL, or a
 * record without a thread, which the caller must visit (owner_visit).
 */
bool remote_free(const struct place *at, struct owner **vacant);

/* Usable bytes of the live block at p in this chunk; 0: there is none, or c is NULL. */
size_t chunk_block(const struct chunk *c, const void *p);

/* Usable bytes of a live block, 0 for NULL; anything else is misuse by `call`. */
size_t block_bytes(enum call call, const void *p);

/* A block of `have` bytes can stay where it is when it gets this size. */
bool block_fits(size_t have, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* From a pointer to what it is. */
#ifndef CORE_RELEASE_H
#define CORE_RELEASE_H

#include "misuse.h"
#include "owner.h"

/* The slot that starts at p in a slab of this chunk; false: there is none. */
bool place_find(const struct chunk *c, const void *p, struct place *at);
bool place_is_taken(const struct place *at);

/* Usable bytes of a live block, 0 for NULL; anything else is misuse by `call`. */
size_t block_bytes(enum call call, const void *p);

#endif

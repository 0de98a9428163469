/* SPDX-License-Identifier: MIT */
/* The size of the block that a pointer names. */
#ifndef CORE_BLOCK_H
#define CORE_BLOCK_H

#include "backend/chunk.h"
#include "base/misuse.h"
#include "internal.h"

/* Usable bytes of the live block at p in this chunk; 0: there is none, or c is NULL. */
INTERNAL size_t chunk_block(const struct chunk *c, const void *p);

/* Usable bytes of a live block, 0 for NULL; anything else is misuse by `call`. */
INTERNAL size_t block_bytes(const char *call, const void *p);

#endif

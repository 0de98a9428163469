/* SPDX-License-Identifier: MIT */
/* Releasing blocks of instances. */
#ifndef CORE_INSTANCE_RELEASE_H
#define CORE_INSTANCE_RELEASE_H

#include "backend/chunk.h"

/* Releases the block at p in this chunk, of whichever heap; anything else is misuse. */
INTERNAL void instance_release(struct chunk *c, void *p);

/*
 * Releases a block that has the tag of an intent of the calling thread: if it dies here, the
 * thread that recovers the intent completes the release.  False: there is no such block.
 */
INTERNAL bool instance_release_tagged(struct heap *h, void *p);

#endif

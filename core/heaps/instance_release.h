/* SPDX-License-Identifier: MIT */
/* Releasing blocks of instances. */
#ifndef CORE_INSTANCE_RELEASE_H
#define CORE_INSTANCE_RELEASE_H

#include "backend/chunk.h"

/* Releases the block at p in this chunk, of whichever heap; anything else is misuse. */
INTERNAL void instance_release(struct chunk *c, void *p);

#endif

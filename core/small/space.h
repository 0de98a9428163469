/* SPDX-License-Identifier: MIT */
/* libashlar-small.a: memory from the system, within ash_defaults.cap. */
#ifndef CORE_SPACE_H
#define CORE_SPACE_H

#include "pages.h"

/*
 * Maps memory.  If `promised`, fails if the kernel would not promise that memory.  Returns NULL if there is
 * no memory.
 */
INTERNAL void *space_map(size_t bytes, size_t alignment, bool promised);
/*
 * Unmaps all of a mapping if `whole`, otherwise the end of a mapping.  Returns false if the system refuses,
 * and the memory stays.
 */
INTERNAL bool space_unmap(void *p, size_t bytes, bool whole);
/* Maps the memory behind a mapping; returns false if that is not possible. */
INTERNAL bool space_grow(void *p, size_t bytes, size_t larger);
/* Returns the bytes that are mapped for blocks. */
INTERNAL size_t space_bytes(void);

#endif

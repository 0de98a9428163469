/* SPDX-License-Identifier: MIT */
/* libashlar-small.a: memory from the system, as much as ash_defaults.cap allows. */
#ifndef CORE_SPACE_H
#define CORE_SPACE_H

#include "pages.h"

/* promised: refused if the kernel would not promise so much.  NULL: no memory. */
INTERNAL void *space_map(size_t bytes, size_t alignment, bool promised);
/* whole: all of a mapping, else its end.  False: it is refused, and the memory stays. */
INTERNAL bool space_unmap(void *p, size_t bytes, bool whole);
/* Maps what follows a mapping; false: not possible. */
INTERNAL bool space_grow(void *p, size_t bytes, size_t larger);
/* Bytes that are mapped for blocks. */
INTERNAL size_t space_bytes(void);

#endif

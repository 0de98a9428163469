/* SPDX-License-Identifier: MIT */
/*
 * Growing a large block where it is, into the free units behind it:
 *
 *   units   [block][free........]   -> [block.......][free]    a slab of another class
 *   chunk   [block][free........|   -> [span..............|    if all of the chunk's rest is free
 *
 * The slab is unmade and another one made at the same place, as when a spare changes its class
 * (large.h): in between, the units are in flight and other threads find no block there.
 */
#ifndef CORE_GROW_H
#define CORE_GROW_H

#include "base/layout.h"
#include "internal.h"

/*
 * p: a block of the default heap.  True: it has at least `size` bytes now.  False: it is unchanged,
 * as it is not a large block of the caller's own, or what follows is not free.
 */
INTERNAL bool grow_large(void *p, size_t size);

#endif

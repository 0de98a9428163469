/* SPDX-License-Identifier: MIT */
/*
 * Hooks of pages_map.c: the places of mappings.  The hardened product wishes for random places without neighbours
 * (chance.h), which stay taken until the mapping goes.  The others take the place that is given here.
 */
#ifndef SYS_PLACE_H
#define SYS_PLACE_H

#include "internal.h"

#if IS_HARDENED
#include "chance.h"

#define place_for(bytes, wish)	   ((void)(wish), fence_place(bytes))
#define place_extend(end, more)	   fence_extend(end, more)
#define place_leave(p, bytes, all) fence_leave(p, bytes, all)
/* Returns whether the mapping is elsewhere, because the wished place is not free, and beside another mapping. */
#define place_is_bad(p, at, bytes) ((uintptr_t)(p) != (at) && fence_has_neighbours(p, bytes))
#else
#define place_for(bytes, wish)	   (wish)
#define place_extend(end, more)	   true
#define place_leave(p, bytes, all) ((void)(all))
#define place_is_bad(p, at, bytes) false
#endif

#endif

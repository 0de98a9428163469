/* SPDX-License-Identifier: MIT */
/* Guarded blocks of the default heap: what a pointer is. */
#ifndef CORE_GUARDED_H
#define CORE_GUARDED_H

#include "backend/map.h"
#include "base/class.h"
#include "front/block.h"
#include "front/guard.h"
#include "front/slot.h"
#include "front/span.h"

#if IS_HARDENED
/* The bytes of the slot or span of a block of the default heap; 0: p is none, or another heap's, as the bare call says. */
static ALWAYS_INLINE size_t block_have(const void *p)
{
	struct chunk *c;
	uint64_t index;
	struct slab *s;

	if (likely(own_slot(p, &s, &index)) &&
	    likely((load_relaxed(&s->free[index / GROUP_SLOTS]) >> index % GROUP_SLOTS & 1) == 0))
		return s->slot_size;
	c = map_find(p);
	return c == NULL || load_relaxed(&c->region)->heap != &heap_default ? 0 : chunk_block(c, p);
}

static ALWAYS_INLINE bool have_is_guarded(size_t have)
{
	return have != SLOT_MIN;
}
#endif

#endif

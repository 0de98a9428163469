/* SPDX-License-Identifier: MIT */
/* Finds the block of a pointer, for calls that need the block's size. */
#include "front/block.h"

#include "ashlar.h"
#include "base/misuse.h"
#include "front/diagnose.h"
#include "front/guard.h"
#include "front/slot.h"
#include "front/span.h"

size_t chunk_block(const struct chunk *c, const void *p)
{
	struct slot_ref at;

	if (unlikely(c == NULL))
		return 0;
	if (slot_find(c, p, &at) && slot_is_taken(&at))
		return at.slab->slot_size;
	return span_is(c, p) ? c->span_bytes : 0;
}

size_t block_bytes(const char *call, const void *p)
{
	struct chunk *c = map_find(p);
	size_t bytes;

	if (p == NULL)
		return 0;
	bytes = chunk_block(c, p);
	if (unlikely(bytes == 0) && heap_hooks_now() != NULL)
		bytes = heap_hooks_now()->bytes(p);
	if (unlikely(bytes == 0))
		diagnose(call, p);
	return bytes;
}

size_t ash_usable_size(const void *p)
{
	struct slab *s = NULL;
	struct slot_ref at;
	size_t have;

	if (IS_HARDENED)
		return (have = block_guarded(p)) != 0 ? guard_size(CALL_USABLE_SIZE, NULL, p, have) : block_bytes(CALL_USABLE_SIZE, p);
	/* Like ash_release, this does not read the remote word, because that is on another page. */
	if (likely(own_slot(p, &s, &at.index)) &&
	    likely(((load_relaxed(&s->free[at.index / GROUP_SLOTS]) >> (at.index % GROUP_SLOTS)) &
		    1) == 0))
		return s->slot_size;
	if (likely(slab_is_of(s, p)) && slot_find_in(s, p, &at) && slot_is_taken(&at))
		return s->slot_size;
	return block_bytes(CALL_USABLE_SIZE, p);
}

/* SPDX-License-Identifier: MIT */
/* Finds the block of a pointer, for calls that need the block's size. */
#include "front/block.h"

#include "base/misuse.h"
#include "front/diagnose.h"
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

size_t block_good(size_t size)
{
	return size <= SLOT_MAX ? class_size(slot_class(class_of(size))) : span_size(size);
}

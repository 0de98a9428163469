/* SPDX-License-Identifier: MIT */
#include "ashlar.h"
#include "memory.h"
#include "release.h"
#include "span.h"

/*
 * A block stays where it is while its size class does not change.  When it
 * shrinks within a slab it stays, too, as long as at least half is used:
 * growing buffers are often trimmed and grown again.
 */
bool block_fits(size_t have, size_t size)
{
	return size <= have && (size >= have / 2 || have == SLOT_MIN);
}

void *ash_resize(void *p, size_t size)
{
	size_t have = block_bytes(CALL_RESIZE, p);
	struct chunk *c;
	void *moved;

	if (p == NULL)
		return ash_alloc(size);
	if (size > PTRDIFF_MAX) {
		ash_on_no_memory();
		return NULL;
	}
	c = map_find(p);
	if (unlikely(heap_hooks != NULL) && heap_hooks->resize(c, &p, size))
		return p;
	if (span_is(c, p)) {
		if (size > SLOT_MAX) {
			moved = span_resize(c, p, size);
			if (moved == NULL)
				ash_on_no_memory();
			return moved;
		}
	} else if (block_fits(have, size)) {
		return p;
	}
	moved = ash_alloc(size);
	if (moved == NULL)
		return size <= have ? p : NULL; /* a smaller block needs no memory */
	memcpy(moved, p, size < have ? size : have);
	ash_release(p);
	return moved;
}

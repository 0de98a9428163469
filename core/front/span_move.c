/* SPDX-License-Identifier: MIT */
#include "front/span_move.h"

#include "backend/map.h"
#include "backend/region.h"
#include "backend/region_advice.h"
#include "front/resize.h"
#include "memory.h"
#include "pages.h"

/* Moves the span to a place with this alignment. */
static void *span_move(struct chunk *c, void *p, size_t bytes, size_t alignment)
{
	size_t have = c->span_bytes, size = span_size(bytes);
	char *moved = span_alloc(c->region->heap, bytes, alignment, false);
	struct run from = {c->region, c->index}, to;

	if (moved == NULL)
		return NULL;
	if (have > size)
		have = size;
	if (SMALL) {
		memcpy(moved, p, have);
	} else {
		c = map_find(moved);
		to = (struct run){c->region, c->index};
		pages_move(p, moved, have);
		region_moved(from, to, (have + CHUNK_SIZE - 1) >> CHUNK_SHIFT);
	}
	(void)span_release(map_find(p), p);
	return moved;
}

void *span_aligned_resize(struct chunk *c, void *p, size_t bytes, size_t alignment)
{
	void *moved = NULL;

	if (resize_may_stay(p, alignment)) {
		if (alignment <= CHUNK_SIZE) /* as all spans are */
			moved = span_resize(c, p, bytes);
		else if (span_fit(c, bytes))
			moved = p;
	}
	return moved != NULL ? moved : span_move(c, p, bytes, alignment); /* which gathers before it is NULL */
}

/* SPDX-License-Identifier: MIT */
/* The hardened product in ash_find, ash_heap_walk and ash_check: blocks have exact sizes, and may be damaged. */
#include "ashlar.h"
#include "backend/heap.h"
#include "diagnostics/blocks.h"
#include "front/variant.h"
#include "hardened/guard.h"

bool block_peek(const struct block_place *at, size_t *size)
{
	bool damaged;

	*size = guard_peek(at->slab, at->start, at->size, false, &damaged);
	return *size != SIZE_MAX;
}

void block_look(struct ash_block *b, const struct block_place *at, bool live)
{
	size_t have = b->size;
	bool damaged;

	if (b->place != ASH_TAKEN || chunk_heap(at->chunk) != &heap_default)
		return;
	b->size = guard_peek(at->slab, b->start, have, live, &damaged);
	if (b->size == SIZE_MAX) {
		b->size = have;
		b->place = ASH_FREE;
	} else if (b->offset > 0 && b->offset >= b->size) {
		b->place = ASH_UNUSED;
	}
}

static int see_damage(void *context, const struct block_place *at)
{
	bool damaged = false;

	(void)context;
	(void)guard_peek(at->slab, at->start, at->size, false, &damaged);
	return damaged;
}

bool blocks_are_whole(void)
{
	return blocks_walk(&heap_default, see_damage, NULL) == 0;
}

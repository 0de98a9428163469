/* SPDX-License-Identifier: MIT */
#include "shm/kinds.h"

#include "backend/map.h"
#include "backend/region.h"
#include "front/slot.h"
#include "front/span.h"
#include "shm/census.h"
#include "shm/intent.h"
#include "slab/look.h"

bool kinds_block(struct heap *h, uint64_t p, size_t bytes)
{
	const void *block = (const void *)p; /* NOLINT: an address */
	struct chunk *c = map_find(block);
	struct slab *s;
	uint64_t index;

	if (p == 0 || c == NULL || load_relaxed(&c->region)->heap != h)
		return false;
	if (slab_find(c, block, &s))
		return look_at_slot(s, block, &index) >= bytes; /* others may release it meanwhile */
	return span_is(c, block) && load_relaxed(&c->span_bytes) >= bytes;
}

uint8_t *kinds_byte(struct heap *h, const struct slab *s, size_t index)
{
	uint64_t leaf = intent_read(h, kinds_slot(s));

	/* In a forged file it may be anything. */
	return kinds_block(h, leaf, SLAB_SLOTS) ? (uint8_t *)leaf + index : NULL; /* NOLINT: an address */
}

unsigned char kind_of(struct heap *h, const struct block_place *at)
{
	/* Pairs with intent_tag_block: the byte is no older than the flag. */
	uint64_t tag = at->slab != NULL ? load_acquire(census_tag(at->slab, at->index))
					: load_relaxed(&at->chunk->clean);
	const uint8_t *byte;

	if ((tag & TAG_INTENT) != TAG_KIND)
		return 0;
	if (at->slab == NULL)
		return (unsigned char)(tag >> KIND_SHIFT);
	byte = kinds_byte(h, at->slab, at->index);
	return byte == NULL ? 0 : load_relaxed(byte);
}

unsigned char kind_at(struct chunk *c, const void *p)
{
	struct block_place at = {.chunk = c};
	struct slot_ref slot;

	if (slot_find(c, p, &slot)) {
		at.slab = slot.slab;
		at.index = slot.index;
	}
	return kind_of(c->region->heap, &at);
}

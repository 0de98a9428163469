/* SPDX-License-Identifier: MIT */
#include "small/find.h"

#include "base/misuse.h"

/*
 * Returns the first piece, at or below this address, of the large block that may have the address.  Only that piece
 * has the block's word.
 */
static const char *first_piece(const char *p)
{
	const char *at = (const char *)((uintptr_t)p & ~(uintptr_t)(PLACE_BYTES - 1)); /* NOLINT: an address */

	/* Search down to the beginning of the leaf: a block with more pieces than that is not found. */
	while (place_at(at) <= PLACE_GONE && ((uintptr_t)at >> PLACE_SHIFT) % PLACE_LEAF != 0)
		at -= PLACE_BYTES;
	return at;
}

uint64_t find_around(const void *p, struct ash_block *out)
{
	uint64_t word = place_at(p);
	struct pool *q = place_pool(word);
	const char *start;

	*out = (struct ash_block){.place = ASH_FOREIGN};
	if (q == NULL) {
		start = first_piece(p);
		out->size = large_bytes(place_at(start));
	} else if (pool_has_memory(q)) {
		out->place = ASH_UNUSED;
		start = pool_outside(q, arena_begin(&q->arena, arena_index(&q->arena, pool_inside(q, p))));
		out->size = pool_bytes(q, start);
	} else {
		return word;
	}
	out->offset = (size_t)((const char *)p - start);
	if (out->offset < out->size) {
		out->place = ASH_TAKEN;
		out->start = (char *)(uintptr_t)start; /* NOLINT: an address */
	} else {
		out->size = out->offset = 0;
	}
	return word;
}

void find_misuse(const char *call, const void *p)
{
	struct ash_block b;
	uint64_t word = find_around(p, &b);
	const char *fault = call_again(call);

	if ((uintptr_t)p % GRANULE != 0 && b.place != ASH_FOREIGN)
		fault = "misaligned pointer";
	else if (b.offset != 0)
		fault = "interior pointer";
	else if (b.place == ASH_FOREIGN)
		fault = word == 0 ? "not a block of this allocator" : "memory already returned";
	misuse_report(call, p, fault, b.start, b.size);
}

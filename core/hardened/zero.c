/* SPDX-License-Identifier: MIT */
#include "hardened/zero.h"

#include "backend/chunk.h"
#include "backend/heap.h"
#include "backend/region.h"
#include "base/misuse.h"
#include "memory.h"
#include "pages.h"
#include "vec16.h"

#define CLEAR_LONG 2048 /* above this the string instruction is faster */

ALWAYS_INLINE bool zero_is(const void *p, size_t n)
{
	vec16 any = {0, 0};
	size_t i;

	for (i = 0; i + 64 <= n; i += 64)
		any |= VEC16_OF(p, i) | VEC16_OF(p, i + 16) | VEC16_OF(p, i + 32) | VEC16_OF(p, i + 48);
	for (; i < n; i += 16)
		any |= VEC16_OF(p, i);
	return (any[0] | any[1]) == 0;
}

void zero_compare(const void *p, size_t have)
{
	if (p != NULL && !zero_is(p, have))
		misuse_report(CALL_ALLOC, p, MISUSE_AFTER, p, have);
}

ALWAYS_INLINE void zero_set(void *p, size_t had)
{
	if (unlikely(had >= CLEAR_LONG))
		memset(p, 0, had + 1);
	else
		vec16_clear(p, had + 1);
}

/* ---- memory that is not in slabs ---- */

/* Reports misuse if a page of this memory does not read zero. */
static SLOW void memory_compare(const char *p, size_t bytes)
{
	const char *end = p + bytes;

	for (; p < end; p += PAGE_LEAST)
		if (unlikely(!pages_zeroes(p)))
			misuse_report(CALL_ALLOC, p, MISUSE_AFTER, NULL, 0);
}

void heap_compare(const struct heap *h, const char *p, size_t bytes)
{
	if (heap_reads_zero(h))
		memory_compare(p, bytes);
}

/* Compares the free units of a chunk.  The units are held during that, so that no thread gets any of them. */
static void chunk_compare(struct heap *h, struct chunk *c)
{
	uint64_t held = load_acquire(&c->units), left, rest;
	unsigned first;

	do
		if (held == 0)
			return;
	while (!cas_acquire(&c->units, &held, 0)); /* pairs with chunk_put: the last user is done with the memory */
	for (left = held; left != 0; left = rest) {
		first = bits_lowest(left);
		rest = left & (left + ((uint64_t)1 << first)); /* as in chunk_purge */
		memory_compare(c->base + ((size_t)first << UNIT_SHIFT), (size_t)bits_count(left ^ rest) << UNIT_SHIFT);
	}
	chunk_put(h, c, held);
}

/*
 * Compares the free units of each chunk whenever the number of slab chunks exceeds that of the last comparison by
 * half.  Without this, runs of units that are too short for any requested slab would never be checked.
 */
SLOW void chunks_compare(struct heap *h)
{
	static uint64_t most; /* chunks; a hint, because each of several threads that are here at a time may compare */
	uint64_t now = load_relaxed(&h->slab_chunks), before = load_relaxed(&most);
	struct region *r;
	size_t i;

	if (!heap_reads_zero(h) || now <= before + before / 2)
		return;
	store_relaxed(&most, now);
	for (r = region_first(h); r != NULL; r = region_next(r))
		for (i = 0; r->remote != NULL && (i = region_next_known(r, i)) < load_relaxed(&r->chunks); i++)
			if (chunk_is(region_chunk(r, i), CHUNK_SLABS))
				chunk_compare(h, region_chunk(r, i));
}

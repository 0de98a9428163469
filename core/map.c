/* SPDX-License-Identifier: MIT */
#include "map.h"

#include "pages.h"

#define LEVEL_BITS ((CPU_ADDRESS_BITS - CHUNK_SHIFT) / 2)
#define LEVEL_SIZE ((size_t)1 << LEVEL_BITS)
_Static_assert(2 * LEVEL_BITS + CHUNK_SHIFT == CPU_ADDRESS_BITS, "two equal levels");

struct leaf {
	struct chunk *chunk[LEVEL_SIZE];
};

struct chunk *map_table[MAP_TABLE];
static struct leaf *overflow[LEVEL_SIZE];

static size_t leaf_index(const void *p)
{
	return ((uintptr_t)p >> CHUNK_SHIFT) % LEVEL_SIZE;
}

/* The leaf for an address, made if need be and wanted; NULL: there is none. */
static struct leaf *leaf_of(const void *p, bool make)
{
	uintptr_t top = (uintptr_t)p >> (CHUNK_SHIFT + LEVEL_BITS);
	struct leaf *leaf, *other;
	uint64_t none = 0;

	if (top >= LEVEL_SIZE)
		return NULL; /* not an address of user space */
	/* Pairs with the swap below: a leaf begins all zero, which is empty. */
	leaf = load_acquire(&overflow[top]);
	if (leaf != NULL || !make)
		return leaf;
	leaf = pages_reserve(sizeof *leaf, PAGE_SIZE, PAGES_PRIVATE);
	if (leaf == NULL ||
	    swap_acq_rel((uint64_t *)(void *)&overflow[top], &none, (uint64_t)(uintptr_t)leaf))
		return leaf;
	other = (struct leaf *)(uintptr_t)none;
	(void)pages_release(leaf, sizeof *leaf);
	return other;
}

struct chunk *map_find(const void *p)
{
	const char *base = (const char *)p - ((uintptr_t)p & (CHUNK_SIZE - 1));
	struct chunk *c = map_guess(p);
	struct leaf *leaf;

	/* The base is unset, and so unequal, in chunks that were never used. */
	if (likely(c != NULL) && likely(load_relaxed(&c->base) == base))
		return c;
	leaf = leaf_of(p, false);
	if (leaf == NULL)
		return NULL;
	c = load_acquire(&leaf->chunk[leaf_index(p)]);
	return c != NULL && load_relaxed(&c->base) == base ? c : NULL;
}

static bool enter(const char *base, struct chunk *c)
{
	struct chunk **entry = &map_table[((uintptr_t)base >> CHUNK_SHIFT) % MAP_TABLE];
	struct leaf *leaf;
	uint64_t none = 0;

	/* Pairs with map_guess. */
	if (swap_acq_rel((uint64_t *)(void *)entry, &none, (uint64_t)(uintptr_t)c))
		return true;
	leaf = leaf_of(base, true);
	if (leaf == NULL)
		return false;
	store_release(&leaf->chunk[leaf_index(base)], c);
	return true;
}

static void leave(const char *base, struct chunk *c)
{
	struct chunk **entry = &map_table[((uintptr_t)base >> CHUNK_SHIFT) % MAP_TABLE];
	uint64_t mine = (uint64_t)(uintptr_t)c;
	struct leaf *leaf;

	if (swap_acq_rel((uint64_t *)(void *)entry, &mine, 0))
		return;
	leaf = leaf_of(base, false);
	if (leaf != NULL)
		store_release(&leaf->chunk[leaf_index(base)], (struct chunk *)NULL);
}

bool map_enter(struct region *r)
{
	size_t i;

	for (i = 0; i < r->chunks; i++) {
		if (enter(r->base + (i << CHUNK_SHIFT), region_chunk(r, i)))
			continue;
		while (i-- > 0)
			leave(r->base + (i << CHUNK_SHIFT), region_chunk(r, i));
		return false;
	}
	return true;
}

void map_leave(struct region *r)
{
	size_t i;

	for (i = 0; i < r->chunks; i++)
		leave(r->base + (i << CHUNK_SHIFT), region_chunk(r, i));
}

bool map_has(const void *p, const struct chunk *c)
{
	struct leaf *leaf;

	if (map_guess(p) == c)
		return true;
	leaf = leaf_of(p, false);
	return leaf != NULL && load_acquire(&leaf->chunk[leaf_index(p)]) == c;
}

bool map_holds(const void *p)
{
	uintptr_t address = (uintptr_t)p;
	size_t i;

	if (address - (uintptr_t)map_table < sizeof map_table ||
	    address - (uintptr_t)overflow < sizeof overflow)
		return true;
	for (i = 0; i < LEVEL_SIZE; i++) {
		const struct leaf *leaf = load_acquire(&overflow[i]);

		if (leaf != NULL && address - (uintptr_t)leaf < sizeof *leaf)
			return true;
	}
	return false;
}

/* SPDX-License-Identifier: MIT */
#include "map.h"

#include "pages.h"

struct map_leaf *map_root[MAP_SIZE];

/* The first one costs no system call; most programs need no second. */
static struct map_leaf first_leaf;
static uint64_t first_leaf_used;

static struct map_leaf *leaf_make(void)
{
	if (exchange_ordered(&first_leaf_used, 1) == 0)
		return &first_leaf;
	return pages_reserve(sizeof(struct map_leaf), PAGE_SIZE, PAGES_PRIVATE);
}

static struct map_leaf *leaf_of(uintptr_t address)
{
	struct map_leaf **slot = &map_root[(address >> (CHUNK_SHIFT + MAP_BITS)) & (MAP_SIZE - 1)];
	struct map_leaf *leaf = load_acquire(slot);
	uint64_t none = 0;

	if (leaf != NULL)
		return leaf;
	leaf = leaf_make();
	if (leaf == NULL)
		return NULL;
	/* The leaf is all zero, which is a valid empty one; pairs with map_find. */
	if (swap_acq_rel((uint64_t *)(void *)slot, &none, (uint64_t)(uintptr_t)leaf))
		return leaf;
	if (leaf == &first_leaf)
		store_release(&first_leaf_used, 0);
	else
		(void)pages_release(leaf, sizeof *leaf);
	return load_acquire(slot);
}

bool map_enter(struct region *r)
{
	size_t i;

	for (i = 0; i < r->chunks; i++) {
		uintptr_t address = (uintptr_t)r->base + (i << CHUNK_SHIFT);
		struct map_leaf *leaf = leaf_of(address);

		if (leaf == NULL) {
			r->chunks = i;
			map_leave(r);
			return false;
		}
		/* Pairs with map_find: the record is valid before it can be found. */
		store_release(&leaf->chunk[(address >> CHUNK_SHIFT) & (MAP_SIZE - 1)],
			      region_chunk(r, i));
	}
	return true;
}

void map_leave(struct region *r)
{
	size_t i;

	for (i = 0; i < r->chunks; i++) {
		uintptr_t address = (uintptr_t)r->base + (i << CHUNK_SHIFT);

		store_release(&leaf_of(address)->chunk[(address >> CHUNK_SHIFT) & (MAP_SIZE - 1)],
			      (struct chunk *)NULL);
	}
}

bool map_holds(const void *p)
{
	uintptr_t address = (uintptr_t)p;
	size_t i;

	if (address - (uintptr_t)map_root < sizeof map_root)
		return true;
	for (i = 0; i < MAP_SIZE; i++) {
		const struct map_leaf *leaf = load_acquire(&map_root[i]);

		if (leaf != NULL && address - (uintptr_t)leaf < sizeof *leaf)
			return true;
	}
	return false;
}

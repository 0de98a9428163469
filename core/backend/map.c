/* SPDX-License-Identifier: MIT */
#include "backend/map.h"

#include "pages.h"

/*
 * The first sections of .bss, in this order in each archive and shared object, whose objects
 * and functions come in any: see core/DECISIONS.md, "The order of what is written".
 */
#define FIRST_IN_BSS(name) __asm__(".pushsection .bss." name ", \"aw\", %nobits\n\t.popsection")
FIRST_IN_BSS("owner_static");
FIRST_IN_BSS("entries"); /* arena/arenas.c: written by programs with arenas only */
FIRST_IN_BSS("chunk_map");
FIRST_IN_BSS("first_owner_used");

INTERNAL struct map chunk_map;
static uint64_t first_leaf_used;

static __attribute__((noinline)) struct map_leaf *leaf_memory(void)
{
	/* One thread gets 0.  The word publishes nothing: no acquire or release pairs with it. */
	if (exchange_seq_cst(&first_leaf_used, 1) == 0)
		return &chunk_map.first;
	return pages_reserve(sizeof chunk_map.first, PAGE_LEAST, PAGES_PRIVATE);
}

static bool leaf_make(struct map_leaf **root_entry)
{
	struct map_leaf *leaf;
	uint64_t none = 0;

	if (load_acquire(root_entry) != NULL)
		return true;
	leaf = leaf_memory();
	if (leaf == NULL)
		return false;
	/* Release pairs with map_guess. */
	if (!cas_acq_rel((uint64_t *)(void *)root_entry, &none, (uint64_t)(uintptr_t)leaf) &&
	    leaf != &chunk_map.first)
		(void)pages_release(leaf, sizeof *leaf);
	return true;
}

struct chunk *map_find(const void *p)
{
	struct chunk *c = map_guess(p);

	/* A chunk that was never used has base NULL, which does not match. */
	if (likely(c != NULL) &&
	    likely((uintptr_t)p - (uintptr_t)load_relaxed(&c->base) < CHUNK_SIZE))
		return c;
	return NULL;
}

/* Enters the region's chunks, or removes them; their leaves exist. */
static void map_set(const struct region *r, bool present)
{
	const char *base = r->base;
	size_t i;

	for (i = 0; i < r->chunks; i++, base += CHUNK_SIZE)
		/* Release pairs with map_guess. */
		store_release(&load_relaxed(&chunk_map.root[(uintptr_t)base >>
							    (CHUNK_SHIFT + MAP_BITS)])
				       ->chunk[map_index(base)],
			      present ? region_chunk(r, i) : NULL);
}

bool map_enter(struct region *r)
{
	uintptr_t first = (uintptr_t)r->base >> CHUNK_SHIFT, last = first + r->chunks - 1;
	size_t i;

	/* If a later leaf cannot be allocated, the empty ones already installed are harmless. */
	for (i = first >> MAP_BITS; i <= last >> MAP_BITS; i++)
		if (!leaf_make(&chunk_map.root[i]))
			return false;
	map_set(r, true);
	return true;
}

void map_leave(struct region *r)
{
	map_set(r, false);
}

bool map_holds(const void *p)
{
	uintptr_t address = (uintptr_t)p;
	size_t i;

	if (address - (uintptr_t)&chunk_map < sizeof chunk_map)
		return true;
	for (i = 0; i < MAP_ROOT; i++) {
		const struct map_leaf *leaf = load_acquire(&chunk_map.root[i]);

		if (leaf != NULL && address - (uintptr_t)leaf < sizeof *leaf)
			return true;
	}
	return false;
}

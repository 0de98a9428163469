/* SPDX-License-Identifier: MIT */
#include "backend/map.h"

#include "backend/heap.h"
#include "pages.h"

/*
 * The first sections of .bss.  This list gives their order in each archive and shared object, whose objects
 * and functions come in any order.
 */
#define FIRST_IN_BSS(name) __asm__(".pushsection .bss." name ", \"aw\", %nobits\n\t.popsection")
FIRST_IN_BSS("owner_static");
FIRST_IN_BSS("entries"); /* arena/arena_list.c: written by programs with arenas only */
FIRST_IN_BSS("chunk_map");
FIRST_IN_BSS("first_owner_used");
/*
 * In a shared object the first metadata is in .bss, too: variables that each program writes or reads come
 * before it.
 */
FIRST_IN_BSS("first_level"); /* base/roll.c */
FIRST_IN_BSS("first_leaf_used");
FIRST_IN_BSS("first_metadata_used");
FIRST_IN_BSS("below");	/* sys/pages.c */
FIRST_IN_BSS("generation_mark");	/* sys/generation.c */
FIRST_IN_BSS("region_addresses_short"); /* backend/region_space.c */
FIRST_IN_BSS("facade_talk");
FIRST_IN_BSS("ready");	/* malloc/thread.c */
FIRST_IN_BSS("kept");	/* front/realloc.c */
FIRST_IN_BSS("first_stderr"); /* sys/panic.c; clang makes a variable of each member */
FIRST_IN_BSS("first_stderr.0");
FIRST_IN_BSS("first_stderr.1");
FIRST_IN_BSS("ash_first_metadata");

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

enum change { MAKE_LEAVES, ENTER, REMOVE };

/* Makes this change in each entry of the region's chunks from `first` to before `end`. */
static bool map_change(const struct region *r, size_t first, size_t end, enum change change)
{
	uintptr_t base = (uintptr_t)load_relaxed(&r->base) >> CHUNK_SHIFT, at;
	bool alone = region_alone(r) != 0;

	for (at = base; at < base + end; at += alone ? at & -at : 1) {
		struct map_leaf **leaf = &chunk_map.root[at >> MAP_BITS];
		uint64_t *entry, is = (uint64_t)(uintptr_t)region_chunk(r, alone ? 0 : at - base);

		if (at - base < first)
			continue;
		if (change == MAKE_LEAVES) {
			if (!leaf_make(leaf))
				return false;
			continue;
		}
		entry = (uint64_t *)(void *)&load_relaxed(leaf)->chunk[at % MAP_SIZE];
		if (change == ENTER)
			store_release(entry, is); /* pairs with map_guess */
		else /* the entry may be that of another region at these addresses now */
			(void)cas_acq_rel(entry, &is, 0);
	}
	return true;
}

bool map_enter(struct region *r)
{
	size_t n = region_all(r);

	/* If a later leaf cannot be allocated, the empty ones already installed are harmless. */
	return map_change(r, 0, n, MAKE_LEAVES) && map_change(r, 0, n, ENTER);
}

void map_leave(struct region *r, size_t first, size_t end)
{
	(void)map_change(r, first, end, REMOVE);
}

struct chunk *map_around(const void *p)
{
	uintptr_t at = (uintptr_t)p, low = CHUNK_SIZE - 1;
	struct chunk *c;

	if (at >> CPU_ADDRESS_BITS != 0)
		return NULL;
	for (;; low = low * 2 + 1) {
		struct region *r = NULL;

		c = map_guess((void *)(at & ~low)); /* NOLINT: an address */
		if (c != NULL)
			r = load_relaxed(&c->region); /* NULL: the chunk was never used, so the region is no span's own */
		if (r == NULL || region_alone(r) == 0) {
			if (low == CHUNK_SIZE - 1 && c != NULL)
				return c;
		} else if (at - (uintptr_t)load_relaxed(&r->base) < region_alone(r)) {
			return c;
		}
		if ((at & ~low) == 0)
			return NULL;
	}
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

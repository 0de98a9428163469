/* SPDX-License-Identifier: MIT */
#include "small/place.h"

static uint64_t *roots[PLACE_ROOT], nowhere;

static inline uint64_t **root_of(const void *p)
{
	uintptr_t root = (uintptr_t)p >> PLACE_SHIFT >> PLACE_BITS;

	return root < PLACE_ROOT ? &roots[root] : NULL;
}

static inline uint64_t *word_in(uint64_t *leaf, const void *p)
{
	return &leaf[((uintptr_t)p >> PLACE_SHIFT) % PLACE_LEAF];
}

uint64_t *place_of(const void *p)
{
	uint64_t **root = root_of(p), *leaf = root == NULL ? NULL : load_dependent(root); /* pairs with place_make */

	return leaf == NULL ? &nowhere : word_in(leaf, p);
}

uint64_t *place_make(const void *p)
{
	uint64_t **root = root_of(p), *leaf;
	uintptr_t none = 0;

	if (root == NULL)
		return NULL;
	leaf = load_dependent(root); /* pairs with the line below */
	if (leaf == NULL) {
		leaf = pages_reserve(PLACE_LEAF * sizeof *leaf, PAGE_LEAST, PAGES_RECORDS);
		/* One of two threads wins; pairs with place_of. */
		if (leaf != NULL && !cas_acq_rel((uintptr_t *)(void *)root, &none, (uintptr_t)leaf)) {
			(void)pages_release(leaf, PLACE_LEAF * sizeof *leaf); /* if refused, the addresses are lost */
			leaf = (uint64_t *)none; /* NOLINT: the word is an address */
		}
	}
	return leaf == NULL ? NULL : word_in(leaf, p);
}

uint64_t place_next(const char **at)
{
	uintptr_t p = (uintptr_t)*at;
	uint64_t **root, *leaf, word;

	while ((root = root_of((void *)p)) != NULL) { /* NOLINT: an address */
		leaf = load_dependent(root); /* pairs with place_make */
		if (leaf == NULL) {
			p = ((p >> PLACE_SHIFT >> PLACE_BITS) + 1) << PLACE_BITS << PLACE_SHIFT;
			continue;
		}
		do {
			word = load_acquire(word_in(leaf, (void *)p)); /* NOLINT: pairs with pool_new and large_alloc */
			if (word != 0) {
				*at = (char *)(p & ~(uintptr_t)(PLACE_BYTES - 1)); /* NOLINT: an address */
				return word;
			}
			p += PLACE_BYTES;
		} while ((p >> PLACE_SHIFT) % PLACE_LEAF != 0);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "shared.h"

#include "walk.h"

static void *slot_in(struct slab *s)
{
	unsigned g;

	for (g = 0; g < s->groups; g++) {
		uint64_t word = load_relaxed(&s->free[g]);

		while (word != 0)
			/* Pairs with shared_free: the last user is done with the slot. */
			if (swap_acquire(&s->free[g], &word, bits_without_lowest(word)))
				return s->base + (size_t)(g * GROUP_SLOTS + bits_lowest(word)) *
							 s->slot_size;
	}
	return NULL;
}

/* Looks through all shared slabs of the class: the hint knows only one. */
static void *slot_anywhere(struct heap *h, unsigned class)
{
	struct walk w = walk_from(h);
	struct slab *s;
	void *p = NULL;

	while (p == NULL && (s = walk_next(&w)) != NULL) {
		/*
		 * Pairs with slab_make.  First the owner: shared, it stays so, and
		 * the place is this slab's.  The other way round the place may be
		 * that of the slab before, and a block be given out that release
		 * does not find (protocol.pml).
		 */
		if ((load_acquire(&s->owner) & OWNER_SHARED) == 0 || !walk_at_slab(&w) ||
		    s->class != class)
			continue;
		p = slot_in(s);
		if (p != NULL)
			store_release(&h->shared[class], s);
	}
	return p;
}

void *shared_slot(struct heap *h, unsigned class)
{
	struct slab *s = load_acquire(&h->shared[class]);
	void *p = s == NULL ? NULL : slot_in(s);

	if (p == NULL)
		p = slot_anywhere(h, class);
	while (p == NULL) {
		s = slab_make(h, class, true, OWNER_SHARED, true);
		if (s == NULL)
			return NULL;
		/* Pairs with the load above.  A slab overwritten here is found by a walk. */
		store_release(&h->shared[class], s);
		p = slot_in(s);
	}
	return p;
}

bool shared_free(struct slab *s, uint64_t index)
{
	return !set_bit_ordered(s->free, index);
}

/* SPDX-License-Identifier: MIT */
#include "slab/slab.h"

#include "base/holder_word.h"

struct slab *slab_make(struct heap *h, unsigned class, bool few, uint64_t owner, bool grow)
{
	unsigned count = class_units(class, few);
	size_t size = class_size(class);
	/*
	 * Who has several slabs of a class needs more of them; and small slabs find
	 * room in any chunk that is not full, so one made for them fills up.  Large
	 * blocks leave the ends of their units and of the chunk untouched: at most an
	 * eighth of each here.
	 */
	bool dense = !few && (size <= SLOT_LARGE || (count > 4 && CHUNK_UNITS % count <= 8));
	struct units u = units_claim(h, count, grow, dense);

	if (u.chunk == NULL)
		return NULL;
	return slab_open(h, u, class, size, class_slots(class, count), owner);
}

bool slab_take(struct slab *s)
{
	uint64_t hold = load_relaxed(&s->hold);

	do {
		/* In use: by one of the owner's that died, or vanished. */
		if (unlikely(hold > SLAB_IN_USE) && holder_generation(hold) == generation_now())
			return false;
	} while (!cas_acquire(&s->hold, &hold, SLAB_IN_USE));
	return true;
}

void slab_unmake(struct heap *h, struct slab *s)
{
	struct units u = slab_close(s);

	slab_let_go(s);
	units_give(h, u);
}

bool slab_watch(struct slab *s)
{
	unsigned g;

	for (g = 0; g < s->groups; g++) {
		s->all_free = slab_group_mask(s, g);
		if (load_relaxed(&s->free[g]) != s->all_free)
			return false;
	}
	return true;
}

bool slab_collect(struct slab *s, bool taken_over)
{
	bool any = false;
	unsigned g;

	/*
	 * First the mark, then the words, as a releasing thread does first the
	 * word, then the mark: one of the two sees the other (remote_set).  A mark
	 * that is not there is not taken off: who finds none tells us anyway.
	 */
	if ((load_seq_cst(&s->owner) & OWNER_PENDING) != 0)
		fetch_and_seq_cst(&s->owner, ~OWNER_PENDING);
	for (g = 0; g < s->groups; g++) {
		uint64_t remote = load_seq_cst(&s->remote[g]), word;

		if (remote == 0)
			continue;
		word = load_relaxed(&s->free[g]);
		if (unlikely((word & remote) != 0) && !taken_over)
			misuse_double(s, g, bits_lowest(word & remote));
		slab_make_ready(s, (uint32_t)1 << g);
		store_release(&s->free[g], word | remote);
		/*
		 * Release: whoever sees the remote bit gone sees the free bit set.
		 * Acquire (with the load above): the releasing threads are done with
		 * the slots before anybody is given them.
		 */
		fetch_and_acq_rel(&s->remote[g], ~remote);
		any = true;
	}
	return any;
}

void slab_refresh(struct slab *s)
{
	uint32_t ready = 0;
	unsigned g;

	for (g = 0; g < s->opened; g++)
		if (load_relaxed(&s->free[g]) != 0)
			ready |= (uint32_t)1 << g;
	store_relaxed(&s->ready, 0);
	slab_make_ready(s, ready);
}

/* SPDX-License-Identifier: MIT */
#include "slab.h"

#include "misuse.h"

/* The first unit last, and in slab_unmake first: while it is there, all are (ash_check). */
static void slab_publish(const struct heap *h, struct slab *s)
{
	unsigned i;

	for (i = s->units; i-- > 0;) {
		if (h == &heap_default)
			store_release(map_unit(s->base + i * UNIT_SIZE), s); /* with map_guess_slab */
		/* Pairs with slab_record and slab_begins. */
		store_release(&s->chunk->head[s->unit + i], record_place(s->unit));
	}
}

struct slab *slab_make(struct heap *h, unsigned class, bool few, uint64_t owner, bool grow)
{
	unsigned slots, g, count = class_units(class, few);
	size_t size = class_size(class);
	/*
	 * Who has several slabs of a class needs more of them; and small slabs find
	 * room in any chunk that is not full, so one made for them fills up.  Large
	 * blocks leave the ends of their units and of the chunk untouched: at most an
	 * eighth of each here.
	 */
	bool dense = !few && (size <= CLASS_SINGLE || (count > 4 && CHUNK_UNITS % count <= 8));
	struct units u = units_claim(h, count, grow, dense);
	uint64_t *remote;
	struct slab *s;

	if (u.chunk == NULL)
		return NULL;
	slots = class_slots(class, count);
	s = chunk_record(u.chunk, u.first);
	remote = (uint64_t *)(void *)(u.chunk->region->remote +
				      (u.chunk->index * CHUNK_UNITS + u.first) *
					      u.chunk->region->remote_stride);
	/*
	 * By relaxed stores: a walk or a late hint may still look at the slab that
	 * was here before, and then finds out that it is not.
	 */
	store_relaxed(&s->base, units_base(u));
	store_relaxed(&s->slot_size, (uint32_t)size);
	store_relaxed(&s->reciprocal, class_reciprocal(size));
	store_relaxed(&s->remote, remote);
	store_relaxed(&s->chunk, u.chunk);
	store_relaxed(&s->slots, slots);
	store_relaxed(&s->groups, (slots + GROUP_SLOTS - 1) / GROUP_SLOTS);
	store_relaxed(&s->class, (uint8_t)class);
	store_relaxed(&s->unit, (uint8_t)u.first);
	store_relaxed(&s->units, (uint8_t)u.count);
	s->full = 0;
	s->opened = 0;
	s->spare = false;
	s->next = s->previous = NULL;
	for (g = 0; g < s->groups; g++)
		store_relaxed(&s->free[g], slab_group_mask(s, g));
	if (unlikely(h->sharing == PAGES_SHARED))
		heap_hooks->slab_made(s);
	s->ready = 0;
	s->soiled = u.clean ? 0 : UINT32_MAX;
	/* Pairs with slot_anywhere (shared.c). */
	store_release(&s->owner, owner);
	slab_publish(h, s);
	return s;
}

void slab_unmake(struct heap *h, struct slab *s)
{
	struct units u = {s->chunk, s->unit, s->units, false};
	unsigned i;

	/*
	 * All slots are free, so a remote bit is a second release that raced with
	 * the first.  This is the last moment to see it; left there, it would free
	 * a slot of the next slab.
	 */
	for (i = 0; i < s->groups; i++) {
		uint64_t remote = load_relaxed(&s->remote[i]);

		if (unlikely(remote != 0))
			misuse_double(s, i, bits_lowest(remote));
	}
	for (i = 0; i < s->units; i++)
		store_release(&s->chunk->head[s->unit + i], (uint32_t)0);
	store_relaxed(&s->owner, 0);
	units_give(h, u);
}

bool slab_watch(struct slab *s)
{
	unsigned g;

	for (g = 0; g < s->groups; g++) {
		s->full = slab_group_mask(s, g);
		if (load_relaxed(&s->free[g]) != s->full)
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
	 * word, then the mark: one of the two sees the other (remote_set).
	 */
	fetch_and_ordered(&s->owner, ~OWNER_PENDING);
	for (g = 0; g < s->groups; g++) {
		uint64_t remote = load_ordered(&s->remote[g]), word;

		if (remote == 0)
			continue;
		word = load_relaxed(&s->free[g]);
		if (unlikely((word & remote) != 0) && !taken_over)
			misuse_double(s, g, bits_lowest(word & remote));
		slab_make_ready(s, (uint32_t)1 << g);
		store_relaxed(&s->free[g], word | remote);
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

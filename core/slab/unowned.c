/* SPDX-License-Identifier: MIT */
#include "slab/unowned.h"

#include "backend/hold.h"
#include "backend/region.h"
#include "slab/look.h"

/* ---- slabs come and go ---- */

/* Returns true if all slots seem to be free (a hint). */
static bool is_empty(const struct slab *s)
{
	unsigned g;

	for (g = 0; g < load_relaxed(&s->groups); g++)
		if (load_relaxed(&s->free[g]) != slab_group_mask(s, g))
			return false;
	return true;
}

/* Claims all slots of the slab; returns false if a slot is taken, or there is no slab. */
static bool slots_take_all(struct slab *s)
{
	uint64_t owner = OWNER_UNOWNED, mask;
	unsigned groups, g;

	if (!cas_acq_rel(&s->owner, &owner, OWNER_UNOWNED | OWNER_CHANGING))
		return false;
	/* The slab exists and only this thread can unmake it, so its constants are stable. */
	groups = load_relaxed(&s->groups);
	for (g = 0; g < groups; g++) {
		mask = slab_group_mask(s, g);
		/* Acquire: the last users are done with the slots. */
		if (!cas_acq_rel(&s->free[g], &mask, 0))
			break;
	}
	if (g == groups && slab_fence(s, false))
		return true;
	while (g-- > 0)
		fetch_or_release(&s->free[g], slab_group_mask(s, g));
	fetch_and_acq_rel(&s->owner, ~OWNER_CHANGING);
	return false;
}

/*
 * Holds the first unit of a slab that OWNER_CHANGING alone marks as being unmade; slab_close holds all units.
 * The first unit is equal for all slabs of the record.
 */
static void first_hold(const struct slab *s, bool notes)
{
	hold_some(load_relaxed(&s->chunk), load_relaxed(&s->unit), 1, notes);
}

bool unowned_unmake(struct heap *h, struct slab *s)
{
	uint64_t hint = (uint64_t)(uintptr_t)s;

	/* Checked first, because a claim that fails hides free slots from other threads for a moment. */
	if (!is_empty(s))
		return false;
	first_hold(s, true);
	if (!slots_take_all(s)) {
		first_hold(s, false);
		return false;
	}
	(void)cas_acq_rel((uint64_t *)(void *)&h->unowned[s->class], &hint, 0);
	units_give(h, slab_close(s));
	fetch_add_relaxed(&h->unowned_gone, 1);
	first_hold(s, false);
	return true;
}

/* Makes this the slab where the next search for slots of the class begins. */
static void unowned_prefer(struct heap *h, unsigned class, struct slab *s)
{
	/* Release pairs with the load in unowned_slot. */
	struct slab *old = (struct slab *)exchange_seq_cst(
		(uint64_t *)(void *)&h->unowned[class], (uint64_t)(uintptr_t)s); /* NOLINT: an address */

	/* The former slab may have been kept although it was empty. */
	if (old != NULL && old != s)
		(void)unowned_unmake(h, old);
}

static struct slab *unowned_make(struct heap *h, unsigned class)
{
	unsigned count = class_units(class, true), g;
	struct units u;
	struct slab *s;

	/*
	 * Counted before the slab exists, because a thread that sees made == gone need not search.  With the
	 * fence of slab_shape this pairs with the fence in check_slab_chunk.
	 */
	fetch_add_acq_rel(&h->unowned_made, 1);
	u = units_claim(h, units_for(class, count), true, false);
	if (u.chunk == NULL) {
		fetch_add_relaxed(&h->unowned_gone, 1);
		return NULL;
	}
	s = slab_shape(u, class, record_offset_unowned(u.first));
	store_release(&s->owner, OWNER_UNOWNED | OWNER_CHANGING);
	slab_publish(h, s);
	for (g = 0; g < s->groups; g++) {
		/* Pairs with slot_in.  A bit that is already set is a late second release. */
		uint64_t old = fetch_or_release(&s->free[g], slab_group_mask(s, g));

		if (unlikely(old != 0))
			slab_report_double(s, g, bits_lowest(old));
	}
	fetch_and_acq_rel(&s->owner, ~OWNER_CHANGING);
	hold_some(u.chunk, u.first, u.count, false);
	return s;
}

/* ---- slots ---- */

/* Called when a slot of the group was freed: unmakes the slab if it is empty. */
static void unowned_settle(struct heap *h, struct slab *s, unsigned g)
{
	/* The record may have another slab now, so the values read are hints. */
	if (load_relaxed(&s->free[g]) == slab_group_mask(s, g) &&
	    s != load_relaxed(&h->unowned[load_relaxed(&s->class)]))
		(void)unowned_unmake(h, s);
}

/* Allocates a slot of the slab, which is held until it has a tag, see backend/hold.h. */
static void *slot_in(struct heap *h, struct slab *s, unsigned class)
{
	unsigned g, bit;

	if ((load_relaxed(&s->owner) & OWNER_CHANGING) != 0)
		return NULL; /* ash_stats and walks would miss a slot that is allocated now */
	for (g = 0; g < load_relaxed(&s->groups); g++) {
		uint64_t word = load_relaxed(&s->free[g]);

		while (word != 0) {
			bit = bits_lowest(word);
			hold_one(s, g * GROUP_SLOTS + bit, true);
			/* Pairs with unowned_make and unowned_free: the last user of the slot is done. */
			if (!cas_acquire(&s->free[g], &word, bits_without_lowest(word))) {
				hold_one(s, g * GROUP_SLOTS + bit, false);
				continue;
			}
			if (unlikely(load_relaxed(&s->chunk->head[s->unit]) !=
				     record_offset_unowned(s->unit)))
				slab_report_double(s, g, bit); /* the bit was set without a slab */
			if (likely(s->class == class))
				return s->base + (size_t)(g * GROUP_SLOTS + bit) * s->slot_size;
			fetch_or_release(&s->free[g], (uint64_t)1 << bit);
			hold_one(s, g * GROUP_SLOTS + bit, false);
			unowned_settle(h, s, g);
			return NULL;
		}
	}
	return NULL;
}

static __attribute__((noinline)) void *slot_in_chunk(struct heap *h, struct chunk *c,
						     unsigned class)
{
	unsigned u;

	for (u = 0; u < CHUNK_UNITS; u++) {
		struct slab *s;
		void *p;

		if (load_acquire(&c->head[u]) != record_offset_unowned(u))
			continue;
		s = record_at(c, record_offset_unowned(u));
		p = load_relaxed(&s->class) != class ? NULL : slot_in(h, s, class);
		if (p != NULL) {
			unowned_prefer(h, class, s);
			return p;
		}
	}
	return NULL;
}

/*
 * Searches `chunks` chunks, beginning where the class's last search ended.  One chunk is searched for each
 * slab made, so a call takes no longer in a large heap, and when the heap has grown by one unit per chunk,
 * all its chunks have been searched.
 */
static void *slot_nearby(struct heap *h, unsigned class, size_t chunks)
{
	size_t at = load_relaxed(&h->unowned_next[class]), i = at;
	struct region *r = region_first(h);
	void *p = NULL;

	if (!unowned_exist(h))
		return NULL;
	for (; r != NULL && i >= load_relaxed(&r->chunks); r = region_next(r))
		i -= load_relaxed(&r->chunks);
	while (r != NULL && p == NULL && chunks > 0) {
		struct chunk *c = region_chunk(r, i);

		chunks--;
		if (r->remote != NULL && bits_all(r->known, i, 1) && chunk_is(c, CHUNK_SLABS))
			p = slot_in_chunk(h, c, class);
		at++;
		for (i++; r != NULL && i >= load_relaxed(&r->chunks); i = 0)
			r = region_next(r);
	}
	store_relaxed(&h->unowned_next[class], r == NULL ? 0 : at);
	return p;
}

void *unowned_rest(struct heap *h, unsigned class)
{
	store_relaxed(&h->unowned_next[class], 0);
	return slot_nearby(h, class, SIZE_MAX);
}

void *unowned_slot(struct heap *h, unsigned class)
{
	/* Pairs with unowned_prefer: the record is complete. */
	struct slab *s = load_acquire(&h->unowned[class]);
	void *p = s == NULL ? NULL : slot_in(h, s, class);

	if (p == NULL)
		p = slot_nearby(h, class, 1);
	while (p == NULL) {
		s = unowned_make(h, class);
		if (s == NULL && unowned_shrink(h) > 0)
			s = unowned_make(h, class);
		if (s == NULL)
			return unowned_rest(h, class);
		p = slot_in(h, s, class);
		unowned_prefer(h, class, s);
	}
	return p;
}

bool unowned_free(struct slab *s, uint64_t index)
{
	struct heap *h = slab_heap(s);
	unsigned g = (unsigned)(index / GROUP_SLOTS), class = load_relaxed(&s->class);
	bool first = load_relaxed(&s->free[g]) == 0;

	if (set_bit_seq_cst(s->free, index))
		return false;
	if (first)
		unowned_prefer(h, class, s);
	else
		unowned_settle(h, s, g);
	return true;
}

size_t unowned_shrink(struct heap *h)
{
	struct walk w = walk_from(h);
	struct slab *s;
	size_t n = 0;

	while ((s = walk_next(&w)) != NULL)
		if (record_is_unowned((uint32_t)((char *)s - (char *)w.chunk)))
			n += unowned_unmake(h, s);
	return n;
}

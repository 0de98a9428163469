/* SPDX-License-Identifier: MIT */
#include "thread/intact.h"

struct intact {
	const struct owner *owner;
	size_t slabs;  /* seen so far: ends the walk of a circular list */
	size_t limit;  /* of `slabs`                   */
	size_t spares; /* slabs with slab.spare set     */
};

/* True: a slab that the record points to is its own, of this class, and its hints are right. */
static bool slab_is_intact(struct intact *l, const struct slab *s, unsigned class)
{
	const struct owner *v = l->owner;
	const uint64_t *current = bin_word(v, &v->bins[class]);
	bool pending = (load_relaxed(&s->owner) & OWNER_PENDING) != 0;
	unsigned g;

	if (++l->slabs > l->limit || !owner_has(v, s) || s->class != class ||
	    (load_relaxed(&s->hold) == SLAB_IN_USE) != (v->bins[class].slab == s) ||
	    !slab_begins(s->chunk, s->unit) || (s->ready & ~s->dirty) != 0 ||
	    s->opened > s->groups || (s->spare && s->all_free != 0))
		return false;
	for (g = 0; g < s->groups; g++) {
		uint64_t word = load_relaxed(&s->free[g]), remote = load_relaxed(&s->remote[g]);

		/*
		 * Both bits of a slot, or remote bits without the pending bit: the thread
		 * vanished while it collected.
		 */
		if ((word & remote) != 0 || (remote != 0 && !pending))
			return false;
		if (g < s->opened ? word != 0 && ((s->ready >> g) & 1) == 0 &&
					    current != &s->free[g] &&
					    !(QUICK && large_is_cached(v, s))
				  : g > s->opened && (word | remote) != slab_group_mask(s, g))
			return false;
	}
	l->spares += s->spare;
	return true;
}

static bool list_is_intact(struct intact *l, const struct slabs *list, unsigned class,
			   bool some_free)
{
	const struct slab *s, *before = NULL;

	for (s = list->head; s != NULL; before = s, s = s->next)
		if (!slab_is_intact(l, s, class) || s->previous != before ||
		    slab_is_ready(s) != some_free)
			return false;
	return list->tail == before;
}

static bool bin_is_intact(struct intact *l, unsigned class)
{
	const struct owner *v = l->owner;
	const struct bin *b = &v->bins[class];
	const struct slab *s = b->slab;
	uintptr_t g;

	if (s == NULL)
		return b->word == 0;
	g = ((uintptr_t)bin_word(v, b) - (uintptr_t)s->free) / sizeof(uint64_t);
	return slab_is_intact(l, s, class) && g < s->groups && g <= s->opened &&
	       bin_word(v, b) == &s->free[g] && b->size == s->slot_size &&
	       b->base == s->base + (size_t)g * GROUP_SLOTS * s->slot_size && s->next == NULL &&
	       s->previous == NULL && v->lists[class].partial.head != s &&
	       v->lists[class].full.head != s;
}

static bool spares_are_intact(const struct intact *l)
{
	const struct owner *v = l->owner;
	unsigned i, k;

	if (v->spare_count != l->spares || v->spare_count > SPARES)
		return false;
	for (i = 0; i < v->spare_count; i++) {
		if (!owner_has(v, v->spares[i]) || !v->spares[i]->spare)
			return false;
		/* One of them twice: the thread vanished while spares_remove_at moved the others. */
		for (k = 0; k < i; k++)
			if (v->spares[k] == v->spares[i])
				return false;
	}
	return true;
}

static bool cached_are_intact(const struct owner *v)
{
	unsigned index, units = 0;

	for (index = 0; index < LARGE_CACHE; index++) {
		const struct slab *s = v->cached[index];

		if (s == NULL)
			continue;
		if (!QUICK || !owner_has(v, s) || !slab_begins(s->chunk, s->unit) ||
		    s->slots != 1 || load_relaxed(&s->free[0]) != 1 || s->ready != 0 ||
		    !large_is_cached(v, s))
			return false;
		units += s->units;
	}
	return units == v->cached_units;
}

bool owner_is_intact(const struct owner *v, size_t slabs)
{
	struct intact l = {.owner = v, .limit = slabs};
	unsigned class;

	for (class = 0; class < CLASSES; class++)
		if (!bin_is_intact(&l, class) ||
		    !list_is_intact(&l, &v->lists[class].partial, class, true) ||
		    !list_is_intact(&l, &v->lists[class].full, class, false))
			return false;
	return l.slabs == slabs && spares_are_intact(&l) && cached_are_intact(v);
}

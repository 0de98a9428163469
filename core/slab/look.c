/* SPDX-License-Identifier: MIT */
#include "slab/look.h"

struct look look_begin(const struct slab *s)
{
	struct look l = {.slab = s, .made = load_acquire(&s->made)};

	l.base = load_relaxed(&s->base);
	l.remote = load_relaxed(&s->remote);
	l.size = load_relaxed(&s->slot_size);
	l.slots = load_relaxed(&s->slots);
	l.groups = load_relaxed(&s->groups);
	l.class = load_relaxed(&s->class);
	l.units = load_relaxed(&s->units);
	l.unowned = slab_is_unowned(s);
	return l;
}

bool look_is_slab(const struct look *l, unsigned unit, bool fills)
{
	return l->class < CLASSES && l->size == class_size(l->class) &&
	       (l->units == class_units(l->class, true) || l->units == class_units(l->class, false) ||
		(fills && l->units == class_filled(l->class))) &&
	       l->slots == class_slots(l->class, l->units) &&
	       l->groups == (l->slots + GROUP_SLOTS - 1) / GROUP_SLOTS && unit + l->units <= CHUNK_UNITS &&
	       (!class_is_aligned(l->class) || unit % l->units == 0);
}

/*
 * Returns true if the words just read are those of this slab.  An unowned slab that had OWNER_CHANGING before
 * or after the reads is being made or unmade: one thread holds whole groups of the slab, whose word is 0 and
 * which have no blocks.  In a word that is not 0 each clear bit is a block even then.
 */
static bool look_is_right(const struct look *l, uint64_t before, uint64_t word)
{
	uint64_t owner;

	fence_acquire(); /* pairs with slab_shape, slots_take_all */
	if (load_relaxed(&l->slab->made) != l->made)
		return false;
	if (!l->unowned)
		return true;
	owner = load_relaxed(&l->slab->owner) | before;
	return owner == OWNER_UNOWNED || (owner == (OWNER_UNOWNED | OWNER_CHANGING) && word != 0);
}

bool look_at_group(const struct look *l, unsigned g, struct look_group *out)
{
	unsigned slots = (unsigned)l->slots - g * GROUP_SLOTS;
	uint64_t mask = slots >= GROUP_SLOTS ? ~(uint64_t)0 : bits_run(0, slots);
	uint64_t remote = 0, before = 0, word;

	/*
	 * Read the remote word first: a collecting owner sets the free bits before it clears the remote bits
	 * (slab_collect), so in the other order a released slot would seem taken.
	 */
	if (l->unowned)
		before = load_acquire(&l->slab->owner); /* pairs with the end of unowned_make */
	else
		remote = load_acquire(&l->remote[g]);
	word = load_acquire(&l->slab->free[g]);
	out->taken = mask & ~(word | remote);
	out->pending = remote & ~word;
	return look_is_right(l, before, word);
}

size_t look_at_slot(const struct slab *s, const void *p, uint64_t *index)
{
	struct look l = look_begin(s);
	uint64_t offset = (uintptr_t)p - (uintptr_t)l.base, released = 0;

	if (l.size == 0 || offset % l.size != 0 || offset / l.size >= l.slots)
		return 0;
	*index = offset / l.size;
	/* In this order, and by acquire, as in slot_is_taken. */
	if (!l.unowned)
		released = load_acquire(&l.remote[*index / GROUP_SLOTS]);
	released |= load_acquire(&s->free[*index / GROUP_SLOTS]);
	return (released >> *index % GROUP_SLOTS & 1) == 0 ? l.size : 0;
}

struct slab *walk_next(struct walk *w)
{
	uint32_t offset; /* of the record, from its chunk record */

	do {
		while (++w->unit >= CHUNK_UNITS) {
			/*
			 * Go to the next slab chunk; the loop condition increments `unit` to the chunk's unit
			 * 0.  Until then `unit` only grows.
			 */
			while (w->region != NULL && (w->region->remote == NULL ||
						     w->index >= load_relaxed(&w->region->chunks))) {
				w->region = region_next(w->region);
				w->index = 0;
			}
			if (w->region == NULL)
				return NULL;
			w->index = region_next_known(w->region, w->index);
			if (w->index >= load_relaxed(&w->region->chunks))
				continue;
			w->chunk = region_chunk(w->region, w->index++);
			if (!chunk_is(w->chunk, CHUNK_SLABS))
				continue;
			chunk_mend(w->region->heap, w->chunk);
			w->unit = ~0u;
		}
		offset = load_acquire(&w->chunk->head[w->unit]); /* pairs with slab_publish */
	} while (!record_begins(offset, w->unit));
	return record_at(w->chunk, offset);
}

struct chunk *walk_chunk(struct heap *h, uint64_t *hand)
{
	struct region *r = region_first(h);
	uint64_t passed = 0;
	unsigned n = 0;
	size_t i;

	while (r != NULL && n < WALK_SKIP) {
		size_t chunks = load_relaxed(&r->chunks);

		i = *hand - passed;
		if (r->remote != NULL && i < chunks)
			i = region_next_known(r, i);
		if (r->remote == NULL || i >= chunks) {
			passed += chunks;
			*hand = *hand > passed ? *hand : passed;
			r = region_next(r);
			continue;
		}
		n++;
		*hand = passed + i + 1;
		if (chunk_is(region_chunk(r, i), CHUNK_SLABS))
			return region_chunk(r, i);
	}
	if (r == NULL)
		*hand = 0;
	return NULL;
}

struct slab *walk_slab(struct chunk *c, unsigned *unit)
{
	struct slab *s = NULL;

	while (s == NULL && *unit < CHUNK_UNITS)
		s = slab_beginning(c, (*unit)++);
	return s;
}

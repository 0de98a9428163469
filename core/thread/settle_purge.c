/* SPDX-License-Identifier: MIT */
#include "thread/settle.h"

#include "backend/chunk.h"
#include "backend/region.h"
#include "backend/retain.h"
#include "base/bits.h"
#include "pages.h"
#include "slab/look.h"
#include "thread/seat.h"

size_t range_purge(struct heap *h, char *from, size_t bytes, size_t *room)
{
	(void)room;
	return heap_purge(h, from, bytes) ? bytes : 0;
}

/*
 * Purges the resident pages of the range if they exceed *room.  Otherwise they are retained, and *room is reduced by
 * them.
 */
static size_t range_trim(struct heap *h, char *from, size_t bytes, size_t *room)
{
	size_t there = pages_written(from, bytes, h->sharing);

	if (there > *room)
		return heap_purge(h, from, bytes) ? there : 0;
	*room -= there;
	return 0;
}

static bool slot_is_free(const struct slab *s, size_t slot)
{
	return (slab_free_word(s, (unsigned)(slot / GROUP_SLOTS)) >> (slot % GROUP_SLOTS)) & 1;
}

size_t slab_purge(struct heap *h, const struct slab *s, range_purges *purges, size_t *room)
{
	size_t bytes = 0, slots = load_relaxed(&s->slots), size = load_relaxed(&s->slot_size);
	char *base = load_relaxed(&s->base), *begin = base - (uintptr_t)base % UNIT_SIZE, *from, *to;
	size_t i;

	if (slab_is_fenced(s))
		return 0; /* the slab has no memory, or is one of few fences with memory (FENCES_KEPT) */
	for (i = 0; i < slots; i++) {
		if (!slot_is_free(s, i))
			continue;
		from = i == 0 ? begin : base + i * size;
		while (i < slots && slot_is_free(s, i))
			i++;
		to = i == slots ? begin + load_relaxed(&s->units) * UNIT_SIZE : base + i * size;
		from += -(uintptr_t)from & (PAGE_SIZE - 1);
		to -= (uintptr_t)to & (PAGE_SIZE - 1);
		if (from < to)
			bytes += purges(h, from, (size_t)(to - from), room);
	}
	return bytes;
}

static bool slab_has_owner(const struct slab *s)
{
	/* Pairs with slab_open: the members read afterwards are this slab's. */
	uint64_t owner = load_acquire(&s->owner);

	return owner > OWNER_PENDING && (owner & OWNER_UNOWNED) == 0;
}

bool slab_is_purgeable(const struct slab *s)
{
	if (!slab_has_owner(s))
		return false;
	/*
	 * A slab of one slot may be unmade meanwhile, because its owner does not hold it.  If the number is that of the
	 * next slab, which the owner is making, the record has no owner: acquire pairs with the fence of slab_shape.
	 */
	if (load_acquire(&s->slots) > 1)
		return slab_has_owner(s);
	return (load_acquire(&load_relaxed(&s->remote)[0]) & 1) != 0 &&
	       load_relaxed(&s->free[0]) == 0 && load_relaxed(&s->slots) == 1;
}

bool slab_hold(struct heap *h, struct slab *s)
{
	uint64_t idle = SLAB_IDLE, me;

	if (load_relaxed(&s->hold) != SLAB_IDLE)
		return false;
	seat.guest++; /* before the generation is read, as in visit_vacant: a fork is not settled while this frame holds */
	signal_fence();
	me = holder_guest(h);
	/* Acquire pairs with slab_let_go. */
	if (me != 0 && cas_acquire(&s->hold, &idle, me))
		return true;
	seat.guest--;
	return false;
}

void slab_leave(struct slab *s)
{
	slab_let_go(s);
	signal_fence();
	seat.guest--;
}

size_t slabs_purge_held(struct heap *h, struct slab *s, size_t *room)
{
	size_t bytes = 0;

	if (!slab_hold(h, s))
		return 0;
	if (slab_is_purgeable(s))
		bytes = slab_purge(h, s, range_trim, room);
	slab_leave(s);
	return bytes;
}

size_t slabs_purge_others(struct heap *h, const struct owner *o, size_t *room)
{
	struct walk w = walk_from(h);
	struct slab *s;
	size_t bytes = 0;

	if (!heap_kind(h)->own_records)
		return 0; /* a slab would stay held if this process died */
	while ((s = walk_next(&w)) != NULL)
		if (!owner_has(o, s))
			bytes += slabs_purge_held(h, s, room);
	return bytes;
}

size_t slabs_purge(struct owner *o, size_t *room)
{
	struct slab *s;
	size_t bytes = 0;
	unsigned class;

	for (class = 0; class < CLASSES; class++) {
		if (o->bins[class].slab != 0)
			bytes += slab_purge(o->heap, bin_slab(o, &o->bins[class]), range_trim, room);
		for (s = o->bins[class].partial.head; s != NULL; s = s->next) {
			if (!slab_take(s))
				continue; /* another thread purges it */
			bytes += slab_purge(o->heap, s, range_trim, room);
			slab_let_go(s);
		}
	}
	return bytes;
}

/* SPDX-License-Identifier: MIT */
#include "thread/slab_purge.h"

#include "pages.h"
#include "slab/walk.h"
#include "thread/holder.h"

/* Purges or retains the resident whole pages of a range without taken slots. */
static size_t range_purge(enum sharing sharing, char *from, char *to, size_t *room)
{
	size_t bytes = 0, there;

	from += -(uintptr_t)from & (PAGE_SIZE - 1);
	to -= (uintptr_t)to & (PAGE_SIZE - 1);
	if (from >= to)
		return 0;
	there = pages_count(from, (size_t)(to - from));
	if (there <= *room)
		*room -= there;
	else if (pages_purge(from, (size_t)(to - from), sharing))
		bytes = there;
	return bytes;
}

/* The remote word is read first: the owner sets free bits before it clears remote bits. */
static uint64_t free_word(const struct slab *s, unsigned g)
{
	uint64_t remote = load_acquire(&load_relaxed(&s->remote)[g]);

	/* Acquire pairs with the owner's releases, which go on while the slab is held. */
	return remote | load_acquire(&s->free[g]);
}

static bool slot_is_free(const struct slab *s, size_t slot)
{
	return (free_word(s, (unsigned)(slot / GROUP_SLOTS)) >> (slot % GROUP_SLOTS)) & 1;
}

/* Purges each run of free slots, with what no slot fills before the first one or behind the last one. */
static size_t slab_purge(enum sharing sharing, const struct slab *s, size_t *room)
{
	size_t bytes = 0, slots = load_relaxed(&s->slots), size = load_relaxed(&s->slot_size);
	char *base = load_relaxed(&s->base), *begin = base - (uintptr_t)base % UNIT_SIZE;
	size_t i, start;

	for (i = 0; i < slots; i++) {
		if (!slot_is_free(s, i))
			continue;
		for (start = i; i < slots && slot_is_free(s, i);)
			i++;
		bytes += range_purge(sharing, start == 0 ? begin : base + start * size,
				     i == slots ? begin + load_relaxed(&s->units) * UNIT_SIZE
						: base + i * size,
				     room);
	}
	return bytes;
}

/*
 * True: until the held slab is let go, none of its free slots is taken and the slab is not
 * unmade.  All its members are read after it was held, as the record may have become
 * another slab since it was found.
 *
 * A slab of one slot qualifies only if another thread released the slot.  If its owner did,
 * the slab may be cached (large.h), and is then taken or closed without regard to the
 * hold.  A slot with its remote bit set is never in the cache.
 */
static bool is_purgeable(const struct slab *s)
{
	/* Pairs with slab_open: the members read below are this slab's. */
	uint64_t owner = load_acquire(&s->owner);

	if (owner <= OWNER_PENDING || (owner & OWNER_UNOWNED) != 0)
		return false;
	if (load_relaxed(&s->slots) > 1)
		return true;
	return (load_acquire(&load_relaxed(&s->remote)[0]) & 1) != 0 &&
	       load_relaxed(&s->free[0]) == 0 && load_relaxed(&s->slots) == 1;
}

size_t slabs_purge_held(struct heap *h, struct slab *s, size_t *room)
{
	uint64_t idle = SLAB_IDLE;
	size_t bytes = 0;

	/* Acquire pairs with slab_let_go.  Not idle: it is current, or another thread purges it. */
	if (load_relaxed(&s->hold) != SLAB_IDLE || !cas_acquire(&s->hold, &idle, holder_guest(h)))
		return 0;
	if (is_purgeable(s))
		bytes = slab_purge(h->sharing, s, room);
	slab_let_go(s);
	return bytes;
}

size_t slabs_purge_others(struct heap *h, const struct owner *o, size_t *room)
{
	struct walk w = walk_from(h);
	struct slab *s;
	size_t bytes = 0;

	if (h->sharing != PAGES_PRIVATE)
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
		if (o->bins[class].slab != NULL)
			bytes += slab_purge(o->heap->sharing, o->bins[class].slab, room);
		for (s = o->bins[class].partial.head; s != NULL; s = s->next) {
			if (!slab_take(s))
				continue; /* another thread purges it */
			bytes += slab_purge(o->heap->sharing, s, room);
			slab_let_go(s);
		}
	}
	return bytes;
}

/* SPDX-License-Identifier: MIT */
#include "hollow.h"

#include "pages.h"

/* The pages that are there in a range without taken slots; its ends need not be pages. */
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

static bool slot_is_free(const struct slab *s, size_t slot)
{
	return (load_relaxed(&s->free[slot / GROUP_SLOTS]) >> (slot % GROUP_SLOTS)) & 1;
}

/* Runs of free slots; the last one has the slab's tail, too. */
static size_t slab_purge(enum sharing sharing, const struct slab *s, size_t *room)
{
	size_t bytes = 0, slots = load_relaxed(&s->slots), i, start;

	for (i = 0; i < slots; i++) {
		if (!slot_is_free(s, i))
			continue;
		for (start = i; i < slots && slot_is_free(s, i);)
			i++;
		bytes += range_purge(sharing, s->base + start * s->slot_size,
				     i == slots ? s->base + s->units * UNIT_SIZE
						: s->base + i * s->slot_size,
				     room);
	}
	return bytes;
}

size_t hollow_purge(struct owner *o, size_t *room)
{
	const struct slab *s;
	size_t bytes = 0;
	unsigned class;

	for (class = 0; class < CLASSES; class++) {
		if (o->bins[class].slab != NULL)
			bytes += slab_purge(o->heap->sharing, o->bins[class].slab, room);
		for (s = o->shelves[class].partial.head; s != NULL; s = s->next)
			bytes += slab_purge(o->heap->sharing, s, room);
	}
	return bytes;
}

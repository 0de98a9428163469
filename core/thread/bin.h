/* SPDX-License-Identifier: MIT */
/* A bin: the current slab of a class, and the group of it that is allocated from. */
#ifndef CORE_BIN_H
#define CORE_BIN_H

#include "thread/owner.h"

/* The lowest slot of the bin's group; NULL: it has none left.  clean: as owner_slot. */
static ALWAYS_INLINE void *bin_slot(struct owner *o, const struct bin *b, bool *clean)
{
	uint64_t *at = bin_word(o, b), word = load_relaxed(at);
	char *p;

	if (unlikely(word == 0))
		return NULL;
	*clean = ((b->slab->dirty >> (at - b->slab->free)) & 1) == 0;
	p = b->base + cpu_lowest_bit(word) * b->size;
	store_relaxed(at, bits_without_lowest(word));
	if (p == NULL)
		__builtin_unreachable(); /* or callers ask for it again */
	return p;
}

/* The next group of the current slab that has a free slot. */
bool bin_next_group(struct owner *o, struct bin *b);

/* The slab, which the owner took, becomes the current one. */
void bin_take(struct owner *o, unsigned class, struct slab *s);

/* The bin lets go of its current slab, wherever that belongs now. */
void bin_rest(struct owner *o, unsigned class);

/* The same of one without a free slot. */
void bin_full(struct owner *o, unsigned class);

#endif

/* SPDX-License-Identifier: MIT */
/* Common parts of the tests of slabs and their records. */
#ifndef TESTS_INNER_SLOTS_H
#define TESTS_INNER_SLOTS_H

#include "front/slot.h"
#include "support/blocks.h"
#include "thread/settle.h"

static inline struct slot_ref place_of(void *p)
{
	struct slot_ref at;

	CHECK(slot_find(map_find(p), p, &at));
	return at;
}

/* Returns the current slab of the class, or NULL. */
static inline struct slab *current_slab(const struct owner *o, unsigned class)
{
	return o->bins[class].slab != 0 ? bin_slab(o, &o->bins[class]) : NULL;
}

/* The group that the next slot is taken from has so many free slots. */
static inline unsigned slots_at_hand(const struct owner *o, unsigned class)
{
	const struct slab *s = current_slab(o, class);

	return s == NULL || s->ready == 0 ? 0 : bits_count(s->free[bits_lowest(s->ready)]);
}

/* The steps of a releasing thread after it has set the pending bit. */
static inline void enter_by_hand(struct owner *o, struct slab *s)
{
	unsigned i = 0;

	while (i < INBOX_SLABS && load_seq_cst(&o->inbox[i]) != 0)
		i++;
	if (i < INBOX_SLABS)
		store_seq_cst(&o->inbox[i], (uint64_t)(uintptr_t)s);
	fetch_or_seq_cst(&o->notified, INBOX_ENTRY);
}

/* Spans where slabs were: the region stays, so the hint still leads to their records. */
enum { SPANS = 10 };
static inline void spans_over_slabs(void *spans[SPANS])
{
	void *blocks[2 * SPANS];

	alloc_each(blocks, 2 * SPANS, SLOT_MAX);
	release_each(blocks, 2 * SPANS);
	ash_trim(1);
	alloc_each(spans, SPANS, CHUNK_SIZE);
}

#endif

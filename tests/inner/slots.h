/* SPDX-License-Identifier: MIT */
/* What tests of slabs and their records have in common. */
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

/* What a releasing thread does after it has set the pending bit. */
static inline void enter_by_hand(struct owner *o, struct slab *s)
{
	unsigned i = 0;

	while (i < INBOX_SLABS && load_seq_cst(&o->pending_slabs[i]) != 0)
		i++;
	if (i < INBOX_SLABS)
		store_seq_cst(&o->pending_slabs[i], (uint64_t)(uintptr_t)s);
	else
		fetch_or_seq_cst(&o->pending_classes[s->class / 64], (uint64_t)1 << s->class % 64);
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

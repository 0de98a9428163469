/* SPDX-License-Identifier: MIT */
/* What the records of vanished threads look like to the child of a fork. */
#include "inner/steps/harness.h"

#include "slab/look.h"
#include "thread/owner.h"

/* Slabs of a list, each linked both ways and of this record. */
static size_t listed(const struct owner *o, const struct slabs *l)
{
	const struct slab *s, *before = slabs_tail(l);
	size_t n = 0;

	for (s = l->head; s != NULL; before = s, s = s->next, n++)
		CHECK(owner_has(o, s) && s->previous == before);
	CHECK(slabs_tail(l) == before);
	return n;
}

/* Where no holder was changing more than slots, the next one uses bins and lists as they are. */
static void look_at_record(struct owner *o)
{
	struct walk w = walk_from(&heap_default);
	struct slab *s;
	size_t n = 0;

	for (unsigned i = 0; i < CLASSES; i++) {
		struct bin *b = &o->bins[i];

		n += listed(o, &b->partial) + listed(o, &b->full);
		if (b->slab == NULL)
			continue;
		n++;
		CHECK(b->base == b->slab->base + (size_t)(bin_word(o, b) - b->slab->free) * GROUP_SLOTS * b->size);
	}
	while ((s = walk_next(&w)) != NULL)
		n -= owner_has(o, s);
	CHECK_EQ(n, 0);
}

void steps_look_at_records(void)
{
	struct owner *o;

	for (o = heap_default.owners; o != NULL; o = o->next)
		if (o->building == 0 && (o->state & OWNER_GUEST) == 0)
			look_at_record(o);
}

/* SPDX-License-Identifier: MIT */
/* The records of vanished threads as the child of a fork sees them. */
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
	size_t n = 0, slabs = 0;

	for (unsigned i = 0; i < CLASSES; i++) {
		struct bin *b = &o->bins[i];

		n += listed(o, &b->partial);
		slabs += b->slabs;
		if (b->slab != 0)
			CHECK(owner_has(o, bin_slab(o, b)) && bin_slab(o, b)->class == i);
	}
	while ((s = walk_next(&w)) != NULL)
		if (owner_has(o, s)) {
			slabs--;
			n -= s->ready != 0 && !bin_has(o, s);
			for (unsigned g = 0; g < s->groups; g++)
				CHECK(s->free[g] == 0 || s->slots == 1 || (s->ready >> g & 1) != 0);
		}
	CHECK(n == 0 && slabs == 0);
}

void steps_look_at_records(void)
{
	struct owner *o;

	for (o = heap_default.owners; o != NULL; o = o->next)
		if (o->building == 0 && (o->state & OWNER_GUEST) == 0)
			look_at_record(o);
}

/* SPDX-License-Identifier: MIT */
#include "thread/settle.h"

#include "slab/look.h"
#include "thread/bin.h"

void shrink_slab(struct owner *o, struct slab *s)
{
	bool no_spares = o->no_spares;

	if (!owner_has(o, s))
		return;
	if (s->spare != 0)
		spares_remove(o, s);
	o->no_spares = true; /* an empty slab is not to be cached here */
	if (bin_has(o, s))
		bin_detach(o, s->class); /* older slabs are then refilled first, and the heap stays dense */
	collect_slab(o, s);
	if (owner_has(o, s) && slab_arm(s))
		slab_retire(o, s);
	o->no_spares = no_spares;
}

static void shrink_chunk(struct owner *o, struct chunk *c)
{
	struct slab *s;
	unsigned unit = 0;

	while ((s = walk_slab(c, &unit)) != NULL)
		if (owner_has(o, s) && !slab_is_fenced(s)) /* fences stay */
			shrink_slab(o, s);
}

void shrink_turn(struct owner *o, unsigned class)
{
	struct chunk *c;
	unsigned n;

	spares_reduce(o, 0);
	for (n = 0; n < SHRINK_TURN && o->bins[class].partial.head == NULL && (c = walk_chunk(o->heap, &o->turn)) != NULL; n++)
		shrink_chunk(o, c);
}

void shrink_all(struct owner *o)
{
	struct walk w = walk_from(o->heap);
	struct slab *s;

	spares_reduce(o, 0);
	while ((s = walk_next(&w)) != NULL)
		shrink_slab(o, s);
}

void shrink_owner(struct owner *o)
{
	unsigned class;

	/* First, because then the last slab of a list is no spare. */
	spares_reduce(o, 0);
	for (class = 0; class < CLASSES; class++) {
		struct slab *s;

		bin_detach(o, class);
		s = slabs_tail(&o->bins[class].partial);
		if (s != NULL && slab_arm(s))
			slab_retire(o, s);
	}
}

/* Collects all, because no call looks for lost entries later. */
static void collect_rest(struct owner *o)
{
	collect_inbox(o);
	while (o->lost != 0)
		collect_lost(o, 0);
}

void shrink_in_place(struct owner *o)
{
	unsigned class;

	o->no_spares = true;
	collect_rest(o);
	spares_reduce(o, 0);
	fences_shrink(o);
	for (class = 0; class < CLASSES; class++) {
		struct bin *b = &o->bins[class];
		struct slab *s = bin_slab(o, b);

		if (b->slab == 0)
			continue;
		if (slab_arm(s))
			slab_retire(o, s);
		else
			bin_arm(o, s);
	}
}

void shrink_before_vacate(struct owner *o)
{
	collect_rest(o);
	shrink_owner(o);
}

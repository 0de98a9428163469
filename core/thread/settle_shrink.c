/* SPDX-License-Identifier: MIT */
#include "thread/settle.h"

#include "thread/bin.h"

void shrink_lists(struct owner *o, unsigned left)
{
	bool no_spares = o->no_spares;

	spares_reduce(o, 0);
	/* Caching an empty slab could take the one away that ends the visit to a list. */
	o->no_spares = true;
	if (left == SHRINK_ALL)
		o->turn = 0;
	do {
		struct slabs *l = &o->bins[o->turn / 2].partial + o->turn % 2;
		struct slab *s, *next;

		/* The current slab, too: older slabs are then refilled first, and the heap stays dense. */
		bin_detach(o, o->turn / 2);
		for (s = l->head; s != NULL && left > 0; s = next, left--) {
			next = s->next; /* s may move to the other list, or be unmade */
			collect_slab(o, s);
			if (owner_has(o, s) && slab_arm(s))
				slab_retire(o, s);
		}
		if (s != NULL)
			slabs_rotate(l, s);
		if (++o->turn == 2 * CLASSES) {
			o->turn = IS_HARDENED ? 2 : 0; /* fences stay (refill.c) */
			break;
		}
	} while (left > 0);
	o->no_spares = no_spares;
}

void shrink_slab(struct owner *o, struct slab *s)
{
	bool no_spares = o->no_spares;

	if (s->spare != 0)
		spares_remove(o, s);
	o->no_spares = true;
	bin_detach(o, s->class);
	collect_slab(o, s);
	if (owner_has(o, s) && slab_arm(s))
		slab_retire(o, s);
	o->no_spares = no_spares;
}

void shrink_owner(struct owner *o)
{
	unsigned class;

	/* First: the last slab of a list is none of them then. */
	spares_reduce(o, 0);
	for (class = 0; class < CLASSES; class++) {
		struct slab *s;

		bin_detach(o, class);
		s = slabs_tail(&o->bins[class].partial);
		if (s != NULL && slab_arm(s))
			slab_retire(o, s);
	}
}

void shrink_in_place(struct owner *o)
{
	unsigned class;

	o->no_spares = true;
	collect_inbox(o);
	if (IS_HARDENED)
		shrink_lists(o, SHRINK_ALL); /* a list has many empty slabs: fences (refill.c) */
	spares_reduce(o, 0);
	for (class = 0; class < CLASSES; class++) {
		struct bin *b = &o->bins[class];

		if (b->slab == NULL)
			continue;
		if (slab_arm(b->slab))
			slab_retire(o, b->slab);
		else
			bin_watch(o, b);
	}
}

void shrink_before_vacate(struct owner *o)
{
	collect_inbox(o);
	shrink_owner(o);
}

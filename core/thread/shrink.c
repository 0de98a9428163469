/* SPDX-License-Identifier: MIT */
#include "thread/shrink.h"

#include "thread/bin.h"
#include "thread/collect.h"
#include "thread/holder.h"
#include "thread/settle.h"
#include "thread/watch.h"

static void shrink_class(struct owner *o, unsigned class)
{
	struct slab_lists *f = &o->lists[class];
	struct slab *s, *next;

	/* The current slab, too: older slabs are then refilled first, and the heap stays dense. */
	bin_detach(o, class);
	for (s = f->partial.head; s != NULL; s = next) {
		next = s->next;
		if (slab_watch(s))
			slab_retire(o, s);
	}
}

void shrink_owner(struct owner *o)
{
	unsigned class;

	spares_reduce(o, 0);
	for (class = 0; class < CLASSES; class++)
		shrink_class(o, class);
	watch_check(o);
}

void shrink_vacant(struct heap *h)
{
	struct owner *v;

	for (v = load_acquire(&h->owners); v != NULL; v = v->next) {
		if (!owner_hold(v))
			continue;
		collect_all(v);
		shrink_owner(v);
		owner_vacate(v);
		collect_vacant(v);
	}
}

void shrink_before_vacate(struct owner *o)
{
	collect_inbox(o);
	shrink_owner(o);
}

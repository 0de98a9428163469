/* SPDX-License-Identifier: MIT */
#include "thread/shrink.h"

#include "thread/bin.h"
#include "thread/collect.h"
#include "thread/holder.h"
#include "thread/large.h"
#include "thread/settle.h"
#include "thread/watch.h"

static void shrink_class(struct owner *o, unsigned class)
{
	struct slab_lists *f = &o->lists[class];
	struct slab *s, *next;

	/* One in use rests, too: slots of older slabs come first, and the heap stays dense. */
	bin_rest(o, class);
	for (s = f->partial.head; s != NULL; s = next) {
		next = s->next;
		if (slab_watch(s) && slab_take(s)) {
			slabs_remove(&f->partial, s);
			slab_unmake(o->heap, s);
		}
	}
}

void owner_shrink(struct owner *o)
{
	unsigned class;

	spares_keep(o, 0);
	if (QUICK)
		large_leave(o);
	for (class = 0; class < CLASSES; class++)
		shrink_class(o, class);
	watch_look(o);
}

void owner_shrink_vacant(struct heap *h)
{
	struct owner *v;

	for (v = load_acquire(&h->owners); v != NULL; v = v->next) {
		if (!owner_hold(v))
			continue;
		owner_collect_all(v);
		owner_shrink(v);
		owner_vacate(v);
		owner_visit(v);
	}
}

void owner_rest(struct owner *o)
{
	owner_collect(o);
	owner_shrink(o);
}

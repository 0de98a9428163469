/* SPDX-License-Identifier: MIT */
#include "thread/collect.h"

#include "thread/holder.h"
#include "thread/inbox.h"
#include "thread/seat.h"
#include "thread/settle.h"

void owner_collect_slab(struct owner *o, struct slab *s)
{
	bool full = !slab_is_ready(s);

	if (slab_collect(s, false))
		owner_settle(o, s, full);
}

static void collect_list(struct owner *o, struct slabs *l, bool all)
{
	struct slab *s, *next;

	for (s = l->head; s != NULL; s = next) {
		next = s->next; /* s may move to the other list, or go */
		o->slabs_seen += all;
		if (all || (load_relaxed(&s->owner) & OWNER_PENDING) != 0)
			owner_collect_slab(o, s);
	}
}

static void collect_class(struct owner *o, unsigned class, bool all)
{
	struct slab *current = o->bins[class].slab;
	bool no_spares = o->no_spares;

	/* A new spare could drive an old one out: the walk's next slab, or the current one. */
	o->no_spares = true;
	/* Partial ones first: those that come from the other list have been done. */
	collect_list(o, &o->lists[class].partial, all);
	collect_list(o, &o->lists[class].full, all);
	o->no_spares = no_spares;
	if (current != NULL)
		(void)slab_collect(current, false);
}

void owner_collect(struct owner *o)
{
	unsigned i;

	for (i = 0; i < INBOX_WORDS; i++) {
		uint64_t word = load_relaxed(&o->inbox[i]);
		struct slab *s;

		if (word == 0)
			continue;
		word = exchange_seq_cst(&o->inbox[i], 0);
		if (i < INBOX_CLASSES) {
			for (; word != 0; word = bits_without_lowest(word))
				collect_class(o, i * 64 + bits_lowest(word), false);
			continue;
		}
		s = (struct slab *)(uintptr_t)word;
		/* It may have changed hands, or be another slab by now: a hint. */
		if (owner_has(o, s))
			owner_collect_slab(o, s);
	}
}

void owner_collect_all(struct owner *o)
{
	unsigned class;

	o->slabs_seen = o->growths = 0;
	owner_collect(o);
	for (class = 0; class < CLASSES; class++)
		collect_class(o, class, true);
}

void owner_visit(struct owner *o)
{
	/*
	 * A handler that interrupts us may fork: its child must not think the
	 * record lost that we hold here (fork_settle).
	 */
	seat.guest++;
	signal_fence();
	/* Mail that comes after our last look is its sender's to deliver: it visits, too. */
	while (inbox_is_filled(o) && owner_hold(o)) {
		owner_collect(o);
		owner_vacate(o);
	}
	signal_fence();
	seat.guest--;
}

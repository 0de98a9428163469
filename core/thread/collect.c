/* SPDX-License-Identifier: MIT */
#include "thread/collect.h"

#include "thread/holder.h"
#include "thread/inbox.h"
#include "thread/seat.h"
#include "thread/settle.h"

void collect_slab(struct owner *o, struct slab *s)
{
	bool full = !slab_is_ready(s);

	if (slab_collect(s, false))
		settle_slab(o, s, full);
}

static void collect_list(struct owner *o, struct slabs *l)
{
	struct slab *s, *next;

	for (s = l->head; s != NULL; s = next) {
		next = s->next; /* s may move to the other list, or be unmade */
		if ((load_relaxed(&s->owner) & OWNER_PENDING) != 0)
			collect_slab(o, s);
	}
}

static void collect_class(struct owner *o, unsigned class)
{
	struct slab *current = o->bins[class].slab;
	bool no_spares = o->no_spares;

	/* Caching an empty slab here could evict the slab that the walk visits next. */
	o->no_spares = true;
	/* The partial list first: slabs that then move to it from the full list are done. */
	collect_list(o, &o->bins[class].partial);
	collect_list(o, &o->bins[class].full);
	o->no_spares = no_spares;
	if (current != NULL)
		(void)slab_collect(current, false);
}

void collect_inbox(struct owner *o)
{
	unsigned i;

	/* Clear it before the entries are read: a later entry sets it again. */
	(void)exchange_seq_cst(&o->notified, 0);
	for (i = 0; i < INBOX_WORDS; i++) {
		uint64_t word = load_relaxed(&o->inbox[i]);
		struct slab *s;

		if (word == 0)
			continue;
		/* seq_cst pairs with inbox_notify, which adds none if the slab still has one. */
		word = exchange_seq_cst(&o->inbox[i], 0);
		if (i < INBOX_CLASSES) {
			for (; word != 0; word = bits_without_lowest(word))
				collect_class(o, i * 64 + bits_lowest(word));
			continue;
		}
		s = (struct slab *)(uintptr_t)word;
		/* The entry is a hint: the slab may have another owner, or be another one. */
		if (owner_has(o, s))
			collect_slab(o, s);
	}
}

void collect_vacant(struct owner *o)
{
	/*
	 * A handler that interrupts this function may fork.  In the child, fork_settle
	 * must not take over the record that this frame holds.
	 */
	seat.guest++;
	signal_fence();
	/*
	 * An entry made after the last check is handled by its sender, which calls this
	 * function, too.
	 */
	while (inbox_is_filled(o) && owner_hold(o)) {
		collect_inbox(o);
		owner_vacate(o);
	}
	signal_fence();
	seat.guest--;
}

/* SPDX-License-Identifier: MIT */
#include "thread/collect.h"

#include "thread/bin.h"
#include "thread/settle.h"

void collect_slab(struct owner *o, struct slab *s)
{
	bool full;

	/* First, as what named the slab is a hint: another holder may be at its plain members. */
	if (!owner_has(o, s))
		return;
	full = !slab_is_ready(s);
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
	bool no_spares = o->no_spares;

	bin_detach(o, class); /* for its slab */
	/* Caching an empty slab here could evict the slab that the walk visits next. */
	o->no_spares = true;
	/* The partial list first: slabs that then move to it from the full list are done. */
	collect_list(o, &o->bins[class].partial);
	collect_list(o, &o->bins[class].full);
	o->no_spares = no_spares;
}

void collect_inbox(struct owner *o)
{
	unsigned i;

	/* Relaxed: what is missed now is found the next time. */
	if (likely(load_relaxed(&o->notified) == 0))
		return;
	/* Clear it before the entries are read: a later entry sets it again. */
	(void)exchange_seq_cst(&o->notified, 0);
	for (i = 0; i < INBOX_WORDS; i++) {
		/*
		 * seq_cst pairs with inbox_enter, which makes its entry, then reads `notified` and
		 * leaves it if it is set.
		 */
		uint64_t word = load_seq_cst(&o->inbox[i]);

		if (word == 0)
			continue;
		/* seq_cst pairs with inbox_notify, which adds none if the slab still has one. */
		word = exchange_seq_cst(&o->inbox[i], 0);
		if (i < INBOX_CLASSES) {
			for (; word != 0; word = bits_without_lowest(word))
				collect_class(o, i * 64 + bits_lowest(word));
			continue;
		}
		collect_slab(o, (struct slab *)(uintptr_t)word);
	}
}

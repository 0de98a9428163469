/* SPDX-License-Identifier: MIT */
#include "thread/inbox.h"

#include "thread/bin.h"
#include "thread/settle.h"

/* Enters the slab, whose pending bit the caller has set. */
static void inbox_enter(struct owner *o, struct slab *s)
{
	unsigned at = (unsigned)((uintptr_t)s / CPU_LINE), end = at + 4 * 7;

	do {
		uint64_t *slot = &o->pending_slabs[at % INBOX_SLABS];
		uint64_t there = load_seq_cst(slot);

		/*
		 * Pairs with the exchanges in collect_inbox and in owner_vacate.  An entry
		 * of this slab that is still there will be collected after this load, so it
		 * serves for our remote bit, too.
		 */
		if (there == (uint64_t)(uintptr_t)s ||
		    (there == 0 && cas_seq_cst(slot, &there, (uint64_t)(uintptr_t)s)))
			goto entered;
	} while ((at += 7) != end);
	/*
	 * pending_classes pairs with the exchange in collect_inbox.  If the record has been reused,
	 * this sets the bit of a wrong class: harmless.
	 */
	(void)set_bit_seq_cst(o->pending_classes, load_relaxed(&s->class));
entered:
	/*
	 * Pairs with the exchange in collect_inbox, which then finds the entry.  And with visit_slab,
	 * which vacates the record and then reads `notified`: this thread reads the state afterwards,
	 * so one of the two sees the other.  Mostly the flag is set already: then the line stays
	 * with those who read it.
	 */
	if ((load_seq_cst(&o->notified) & INBOX_ENTRY) == 0)
		fetch_or_seq_cst(&o->notified, INBOX_ENTRY);
}

void inbox_notify(struct slab *s)
{
	uint64_t owner;

	if (set_bit_seq_cst(&s->owner, OWNER_PENDING_BIT))
		return; /* who set it enters the slab */
	/*
	 * If the slab changes owners before this load, its new one collects what was released before, as
	 * the exchange of the word takes our bit away (refill.c), and gets an entry too many.
	 */
	owner = load_seq_cst(&s->owner) & ~OWNER_PENDING;
	if (owner > OWNER_FLAGS) /* else it has no owner by now */
		inbox_enter((struct owner *)(uintptr_t)owner, s);
}

void collect_slab(struct owner *o, struct slab *s)
{
	bool full;

	/* First, as what named the slab is a hint: another holder may be at its plain members. */
	if (!owner_has(o, s))
		return;
	full = !slab_is_ready(s);
	if (!slab_collect(s, false))
		return;
	/* What was purged is no spare: it goes back clean, and so is seen to be taken again (heap_cleaned). */
	if (!SMALL && unlikely(load_relaxed(&s->purged) != 0)) {
		bool no_spares = o->no_spares;

		o->no_spares = true;
		settle_slab(o, s, full);
		o->no_spares = no_spares;
		return;
	}
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

/* SPDX-License-Identifier: MIT */
#include "thread/inbox.h"

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
	 * the exchange of the word takes our bit away (adopt.c), and gets an entry too many.
	 */
	owner = load_seq_cst(&s->owner) & ~OWNER_PENDING;
	if (owner > OWNER_FLAGS) /* else it has no owner by now */
		inbox_enter((struct owner *)(uintptr_t)owner, s);
}

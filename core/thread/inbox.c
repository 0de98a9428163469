/* SPDX-License-Identifier: MIT */
#include "thread/inbox.h"

void inbox_notify(struct owner *o, struct slab *s)
{
	unsigned at = (unsigned)((uintptr_t)s / CPU_LINE), class, i;

	for (i = 0; i < 4; i++, at += 7) {
		uint64_t *slot = &o->pending_slabs[at % INBOX_SLABS];
		uint64_t there = load_seq_cst(slot);

		/*
		 * Pairs with the exchanges in collect_inbox and in owner_vacate.  An entry
		 * of this slab that is still there will be collected after this load, so it
		 * serves for our remote bit, too.
		 */
		if (there == (uint64_t)(uintptr_t)s)
			return;
		if (there == 0 && cas_seq_cst(slot, &there, (uint64_t)(uintptr_t)s))
			goto entered;
	}
	/*
	 * pending_classes pairs with the exchange in collect_inbox.  If the record has been reused,
	 * this sets the bit of a wrong class: harmless.
	 */
	class = load_relaxed(&s->class);
	fetch_or_seq_cst(&o->pending_classes[class / 64], (uint64_t)1 << (class % 64));
entered:
	/* Release pairs with the exchange in collect_inbox, which then finds the entry. */
	store_release(&o->notified, 1);
}

bool inbox_is_filled(const struct owner *o)
{
	uint64_t any = 0;
	unsigned i;

	/* One of the two sees the other: owner_vacate, then this; inbox_notify, then the state. */
	for (i = 0; i < INBOX_WORDS; i++)
		any |= load_seq_cst(&o->inbox[i]);
	return any != 0;
}

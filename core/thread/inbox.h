/* SPDX-License-Identifier: MIT */
/* The inbox of a record: which of its slabs have remote bits. */
#ifndef CORE_INBOX_H
#define CORE_INBOX_H

#include "thread/owner.h"

/* Tells the owner that the slab has remote bits.  For anybody. */
void owner_notify(struct owner *o, struct slab *s);

/* True: there is something in it. */
bool inbox_is_filled(const struct owner *o);

/* The same without an order.  By eights: a look at each in turn is a third of what a large block costs. */
static ALWAYS_INLINE bool inbox_has(const struct owner *o)
{
	uint64_t any = load_relaxed(&o->pending_classes[0]) | load_relaxed(&o->pending_classes[1]);
	const uint64_t *m;

	_Static_assert(INBOX_CLASSES == 2 && INBOX_SLABS % 8 == 0, "all of it");
	for (m = o->pending_slabs; m < o->pending_slabs + INBOX_SLABS; m += 8)
		any |= load_relaxed(m) | load_relaxed(m + 1) | load_relaxed(m + 2) |
		       load_relaxed(m + 3) | load_relaxed(m + 4) | load_relaxed(m + 5) |
		       load_relaxed(m + 6) | load_relaxed(m + 7);
	return any != 0;
}

#endif

/* SPDX-License-Identifier: MIT */
#include "thread/owner.h"

#include "memory.h"

struct owner owner_static[2];

void owner_reset(struct owner *o)
{
	unsigned i;

	/* At once, each of them: watch_tell may look. */
	for (i = 0; i < CLASSES; i++)
		store_relaxed(&o->bins[i].slab, (struct slab *)NULL);
	/* Bins, lists, spares, what is cached. */
	memset(o->bins, 0, offsetof(struct owner, building) - offsetof(struct owner, bins));
	o->spare_count = 0;
	for (i = 0; i < INBOX_WORDS; i++)
		store_relaxed(&o->inbox[i], 0);
}

void owner_enter(struct heap *h, struct owner *o, uint64_t state)
{
	uint64_t top;

	o->heap = h;
	o->state = state;
	top = (uint64_t)(uintptr_t)load_relaxed(&h->owners);
	do
		o->next = (struct owner *)(uintptr_t)top;
	/* Pairs with the loads of heap.owners: a record is complete when seen. */
	while (!cas_acq_rel((uint64_t *)(void *)&h->owners, &top, (uint64_t)(uintptr_t)o));
}

bool owner_holds(struct heap *h, const void *p)
{
	struct owner *o;

	for (o = load_acquire(&h->owners); o != NULL; o = o->next)
		if ((uintptr_t)p - (uintptr_t)o < sizeof *o)
			return true;
	return false;
}

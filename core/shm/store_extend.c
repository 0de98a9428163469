/* SPDX-License-Identifier: MIT */
#include "shm/store_extend.h"

#include "base/bits.h"

bool store_extend(struct store *s, size_t n)
{
	struct region *r = load_acquire(&s->heap.regions);
	uint64_t had = load_acquire(&r->chunks);

	if (!store_may_extend(s, n))
		return false;
	/* Each chunk is added by one thread.  Release pairs with view_chunks. */
	do
		if (had >= n)
			return true;
	while (!cas_acq_rel((uint64_t *)(void *)&r->chunks, &had, n));
	/* No block was ever there.  Clean first, as the thread that claims a chunk may read it. */
	bits_release(r->clean, had, n - had);
	bits_release(r->free, had, n - had);
	return true;
}

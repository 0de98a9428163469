/* SPDX-License-Identifier: MIT */
/* The release of the blocks that a dead process left. */
#include "ashlar_heap.h"
#include "diagnostics/blocks.h"
#include "heaps/instance.h"
#include "shm/census.h"

struct leavings {
	ash_heap *heap;
	uint64_t owner;
	size_t released;
};

static int release_if_left(void *context, void *block, size_t size,
			   const struct ash_heap_owner *owner)
{
	struct leavings *l = context;

	(void)size;
	if (owner->id == l->owner && !owner->live) {
		ash_heap_release(l->heap, block);
		l->released++;
	}
	return 0;
}

size_t ash_heap_release_owner(ash_heap *heap, uint64_t owner)
{
	struct leavings l = {heap, owner, 0};
	struct store *s = store_behind(heap);
	uint64_t word;

	if (s == NULL || owner == 0 || owner > CENSUS_LAST ||
	    !census_is_over(s, (unsigned)owner - 1, load_acquire(&s->census[owner - 1])))
		return 0;
	/* First completes what the process left in the middle of a call. */
	(void)ash_heap_recover(heap);
	(void)ash_blocks_visit(heap, release_if_left, &l);
	/* The entry can be reused by another process. */
	word = load_acquire(&s->census[owner - 1]);
	if (!census_is_held(s, owner) && (word & CENSUS_OVER) != 0 &&
	    cas_acq_rel(&s->census[owner - 1], &word, 0))
		store_relaxed(&s->full, (uint64_t)0);
	return l.released;
}

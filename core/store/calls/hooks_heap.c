/* SPDX-License-Identifier: MIT */
/* Calls on a whole heap that processes share: extension, and the blocks that a dead process left. */
#include "store/allocator.h"
#include "store/calls/hooks.h"
#include "store/file/store.h"
#include "store/recover/census.h"

bool hooks_extend(struct heap *h, size_t capacity)
{
	size_t n = capacity_chunks(capacity);
	struct store *s = store_of(h);
	struct seats_call call;
	struct building b;
	bool done;

	/* Taking a record would needlessly break the seal. */
	if (store_has(s, n) || !store_may_extend(s, n))
		return store_has(s, n);
	call = seats_enter(h);
	b = building_begin(h, call.self);
	done = store_extend(s, n);
	building_end(b);
	seats_exit(call);
	return done;
}

/* ---- blocks that a dead process left ---- */

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

size_t hooks_release_owner(struct heap *h, uint64_t owner)
{
	struct leavings l = {heap_public(h), owner, 0};
	struct store *s = store_of(h);
	uint64_t word;

	if (owner == 0 || owner > CENSUS_LAST ||
	    !census_is_over(s, (unsigned)owner - 1, load_acquire(&s->census[owner - 1])))
		return 0;
	/* First complete the calls in which the process died. */
	(void)ash_heap_recover(l.heap);
	(void)ash_blocks_visit(l.heap, release_if_left, &l);
	/* Another process can reuse the entry. */
	word = load_acquire(&s->census[owner - 1]);
	if (!census_is_held(s, owner) && (word & CENSUS_OVER) != 0 &&
	    cas_acq_rel(&s->census[owner - 1], &word, 0))
		store_relaxed(&s->full, (uint64_t)0);
	return l.released;
}

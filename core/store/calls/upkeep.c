/* SPDX-License-Identifier: MIT */
/* Calls on a whole heap that processes share: extension, sync, seal, and the blocks that a dead process left. */
#include "store/allocator.h"
#include "store/file/open.h"
#include "store/file/store.h"
#include "store/recover/builders.h"
#include "store/recover/census.h"

bool ash_heap_extend(ash_heap *heap, size_t capacity)
{
	size_t n = capacity_chunks(capacity);
	struct store *s = store_behind(heap);
	struct heap *h = heap_of(heap);
	struct seats_call call;
	struct building b;
	bool done;

	if (s == NULL)
		return false;
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

/* ---- files and the disk ---- */

/* Returns the store of a heap in a file, or NULL for another heap.  Only the maker of a file has a claim. */
static struct store *store_in_file(ash_heap *heap)
{
	struct store *s = store_behind(heap);

	return s != NULL && load_relaxed(&s->claim) != 0 ? s : NULL;
}

enum ash_sync ash_heap_sync(ash_heap *heap)
{
	struct store *s = store_in_file(heap);

	if (s == NULL)
		return ASH_SYNC_FAILED;
	if (seal_state(load_acquire(&s->seal)) != SEAL_WHOLE) { /* pairs with seal_close */
		(void)ash_heap_recover(heap); /* dead holders would keep the seal open */
		ash_heap_thread_detach(heap);
	}
	return seal_close(s);
}

uint64_t ash_heap_seal(ash_heap *heap)
{
	struct store *s = store_in_file(heap);
	uint64_t word;

	if (s == NULL)
		return 0;
	/* Pairs with seal_break: if the caller read a later store, this load finds the seal broken. */
	fence_acquire();
	word = load_acquire(&s->seal); /* pairs with seal_close */
	return seal_state(word) == SEAL_WHOLE ? (uint32_t)word >> SEAL_NUMBER : 0;
}

bool ash_heap_break_seal(ash_heap *heap)
{
	struct store *s = store_in_file(heap);

	return s == NULL || seal_break(s);
}

bool ash_heap_vouch_file(int fd)
{
	return store_vouch(fd);
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

size_t ash_heap_release_owner(ash_heap *heap, uint64_t owner)
{
	struct leavings l = {heap, owner, 0};
	struct store *s = store_behind(heap);
	uint64_t word;

	if (s == NULL || owner == 0 || owner > CENSUS_LAST ||
	    !census_is_over(s, (unsigned)owner - 1, load_acquire(&s->census[owner - 1])))
		return 0;
	/* First complete the calls in which the process died. */
	(void)ash_heap_recover(heap);
	(void)ash_blocks_visit(heap, release_if_left, &l);
	/* Another process can reuse the entry. */
	word = load_acquire(&s->census[owner - 1]);
	if (!census_is_held(s, owner) && (word & CENSUS_OVER) != 0 &&
	    cas_acq_rel(&s->census[owner - 1], &word, 0))
		store_relaxed(&s->full, (uint64_t)0);
	return l.released;
}

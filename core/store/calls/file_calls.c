/* SPDX-License-Identifier: MIT */
/* Calls on a whole heap in a file: sync, and the seal. */
#include "store/allocator.h"
#include "store/file/open.h"
#include "store/file/store.h"
#include "store/recover/builders.h"

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

/* SPDX-License-Identifier: MIT */
/* Destroying heaps. */
#include "arena/arenas.h"
#include "backend/map.h"
#include "backend/metadata.h"
#include "backend/region.h"
#include "heaps/instance.h"
#include "memory.h"
#include "shm/seats_close.h"
#include "shm/store_map.h"
#include "thread/owner.h"

/*
 * The last heaps that were destroyed.  Their first page remains for a while, marked
 * PAGES_GONE, so that a late call on the heap finds the mark and reports misuse.
 */
enum { GONE = 4 };
static uint64_t gone[GONE], gone_count;

static void leave_mark(struct heap *h)
{
	uint64_t *entry = &gone[fetch_add_relaxed(&gone_count, 1) % GONE];

	/* No seat has the id 0, so no fast path accepts the heap. */
	memset(h, 0, sizeof *h);
	/* Release, behind the zeros: a late call, which is misuse, sees the mark or no heap. */
	store_release(&h->sharing, PAGES_GONE);
	h = (struct heap *)(uintptr_t)exchange_seq_cst(entry, (uint64_t)(uintptr_t)h);
	if (h != NULL)
		(void)pages_release(h, HEAP_BYTES);
}

void ash_heap_destroy(ash_heap *heap)
{
	struct heap *h = heap_of(heap);
	struct region *r, *next_region;
	struct owner *o, *next_owner;

	if (heap == NULL || arenas_leave(heap))
		return;
	if (!pages_mapped(heap) || h->sharing > PAGES_SHARED)
		misuse_report(CALL_HEAP_DESTROY, heap, "heap already destroyed", NULL, 0);
	if (h->sharing == PAGES_SHARED) {
		ash_heap_thread_detach(heap);
		arenas_gone(store_of(h), store_of(h)->bytes);
		seats_close(h);
		store_leave(store_of(h));
		return;
	}
	seats_close(h);
	for (r = h->regions; r != NULL; r = next_region) {
		next_region = r->next;
		if (r->state == REGION_LIVE) {
			arenas_gone(r->base, r->chunks << CHUNK_SHIFT);
			map_leave(r);
			(void)pages_release(r->base, r->chunks << CHUNK_SHIFT);
		}
		(void)pages_release(
			r, metadata_bytes(r->capacity, r->remote != NULL, r->remote_stride));
	}
	for (o = h->owners; o != NULL; o = next_owner) {
		next_owner = o->next;
		(void)pages_release(o, OWNER_BYTES);
	}
	leave_mark(h);
}

/* SPDX-License-Identifier: MIT */
/* Heaps that the program made: how they come, go and are looked at. */
#include "heaps/instance.h"

#include "arena/arena.h"
#include "thread/fork.h"
#include "backend/map.h"
#include "memory.h"
#include "backend/metadata.h"
#include "shm/building.h"
#include "shm/recover.h"
#include "backend/region.h"
#include "shm/seats.h"
#include "front/trim.h"
#include "thread/collect.h"
#include "thread/seat.h"
#include "thread/shrink.h"

uint64_t heap_new_id(bool shared)
{
	static uint64_t count;
	uint64_t n = fetch_add_relaxed(&count, 1) + 1;

	/*
	 * Other processes attach to shared heaps, so their ids must differ, too.  A
	 * factor for each: lives of neighbours differ by 1, as counts do.
	 */
	if (shared)
		n = n * UINT64_C(0xd1342543de82ef95) +
		    life_of_process() * UINT64_C(0x9e3779b97f4a7c15);
	return n << 1 | shared;
}

static size_t chunks_for(size_t capacity)
{
	return capacity / CHUNK_SIZE + (capacity % CHUNK_SIZE != 0);
}

void instance_configure(struct heap *h, size_t cap, const struct ash_heap_options *options)
{
	h->own = ash_defaults;
	h->own.cap = cap;
	if (options != NULL) {
		h->own.huge = options->huge;
		if (options->retain != 0)
			h->own.retain = options->retain;
	}
	h->options = &h->own;
}

ash_heap *ash_heap_create(const struct ash_heap_options *options)
{
	struct heap *h = pages_reserve(HEAP_BYTES, PAGE_SIZE, PAGES_PRIVATE);

	if (h == NULL)
		return NULL;
	instance_configure(
		h, options == NULL ? ash_defaults.cap : chunks_for(options->cap) << CHUNK_SHIFT,
		options);
	h->id = heap_new_id(false);
	h->sharing = PAGES_PRIVATE;
	fork_watch(h); /* now, so that all records are of a known generation */
	h->settled = generation_now();
	heap_hooks = &instance_hooks;
	return heap_public(h);
}

static ash_heap *shared(struct store *s)
{
	if (s == NULL)
		return NULL;
	heap_hooks = &instance_hooks;
	return heap_public(&s->heap);
}

ash_heap *ash_heap_create_shared(size_t capacity, const struct ash_heap_options *options)
{
	return shared(store_create(chunks_for(capacity), options));
}

ash_heap *ash_heap_create_file(int fd, size_t capacity, const struct ash_heap_options *options)
{
	enum ash_attach why;

	return shared(store_create_file(fd, chunks_for(capacity), options, &why));
}

ash_heap *ash_heap_attach_file(int fd, enum ash_attach *why)
{
	enum ash_attach reason;
	struct store *s = store_attach(fd, &reason);

	if (why != NULL)
		*why = reason;
	(void)shared(s);
	if (s == NULL)
		return NULL;
	(void)ash_heap_recover(heap_public(&s->heap));
	return heap_public(&s->heap);
}

ash_heap *ash_heap_open_file(int fd, size_t capacity, const struct ash_heap_options *options,
			     enum ash_attach *why)
{
	enum ash_attach reason;
	struct store *s;
	ash_heap *heap = ash_heap_attach_file(fd, &reason);

	/* What no heap is may become one. */
	if (heap == NULL && (reason == ASH_ATTACH_NO_HEAP || reason == ASH_ATTACH_UNFINISHED)) {
		s = store_create_file(fd, chunks_for(capacity), options, &reason);
		heap = shared(s);
		/* Somebody was faster. */
		if (heap == NULL && reason == ASH_ATTACH_NO_HEAP)
			heap = ash_heap_attach_file(fd, &reason);
	}
	if (why != NULL)
		*why = reason;
	return heap;
}

/*
 * The last heaps that were destroyed: their first page stays for a while, with a
 * mark, so that a call that comes too late finds it and says so.
 */
enum { GONE = 4 };
static uint64_t gone[GONE], gone_count;

static void leave_mark(struct heap *h)
{
	uint64_t *place = &gone[fetch_add_relaxed(&gone_count, 1) % GONE];

	/* No seat has the id 0, so that no fast path takes it. */
	memset(h, 0, sizeof *h);
	store_release(&h->sharing, PAGES_GONE);
	h = (struct heap *)(uintptr_t)exchange_seq_cst(place, (uint64_t)(uintptr_t)h);
	if (h != NULL)
		(void)pages_release(h, HEAP_BYTES);
}

bool ash_heap_adopt_file(int fd)
{
	return store_adopt(fd);
}

void ash_heap_destroy(ash_heap *heap)
{
	struct heap *h = heap_of(heap);
	struct region *r, *next_region;
	struct owner *o, *next_owner;

	if (heap == NULL || arenas_leave(heap))
		return;
	if (!pages_mapped(heap) || h->sharing > PAGES_SHARED)
		misuse_report(CALL_HEAP_DESTROY, heap, "heap already destroyed", 0);
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
		(void)pages_release(r, metadata_bytes(r->capacity, r->remote != NULL, r->remote_stride));
	}
	for (o = h->owners; o != NULL; o = next_owner) {
		next_owner = o->next;
		(void)pages_release(o, OWNER_BYTES);
	}
	leave_mark(h);
}

void ash_heap_thread_detach(ash_heap *heap)
{
	struct heap *h = heap_of(heap);
	struct seat_entry *t;
	struct owner *o;
	struct building b;

	if (arena_of(heap) != NULL || (o = seats_take(h, &t)) == NULL)
		return;
	b = building_begin(h, o);
	owner_rest(o);
	building_end(b);
	/* From here on the record and its counter may be another thread's: not our handlers'. */
	t->self = SEAT_BUSY;
	signal_fence();
	owner_vacate(o);
	b = building_begin(h, NULL);
	owner_visit(o);
	building_end(b);
	seats_leave(t);
}

size_t ash_heap_trim(ash_heap *heap, size_t keep)
{
	struct heap *h = heap_of(heap);
	struct seat_entry *t;
	struct owner *o;
	struct building b;
	size_t bytes;

	if (arena_of(heap) != NULL)
		return 0;
	o = seats_take(h, &t);
	b = building_begin(h, o != NULL ? o : seats_self(h));
	bytes = heap_give_back(h, o, keep);
	building_end(b);
	if (o != NULL)
		seats_give(t, o);
	return bytes;
}

void ash_heap_stats(ash_heap *heap, struct ash_stats *out)
{
	if (arena_of(heap) != NULL)
		arena_stats(arena_of(heap), out);
	else
		heap_stats(heap_of(heap), out);
}

int ash_heap_check(ash_heap *heap)
{
	struct heap *h = heap_of(heap);
	struct seat_entry *t;
	struct owner *o;
	int broken;

	if (arena_of(heap) != NULL)
		return arena_check(arena_of(heap));
	o = seats_take(h, &t);
	broken = heap_check(h, o);
	if (o != NULL)
		seats_give(t, o);
	return broken;
}

size_t ash_heap_recover(ash_heap *heap)
{
	struct heap *h = heap_of(heap);
	struct seat_entry *t;
	struct owner *o;
	size_t records;

	if (arena_of(heap) != NULL)
		return 0;
	o = seats_take(h, &t);
	records = heap_recover(h, o);
	if (o != NULL)
		seats_give(t, o);
	return records;
}

void *ash_heap_root(ash_heap *heap)
{
	struct arena *f = arena_of(heap);

	/* Pairs with ash_heap_set_root: what the root leads to is complete. */
	return (void *)load_acquire(f != NULL ? &f->root : &heap_of(heap)->root); /* NOLINT: an address */
}

void ash_heap_set_root(ash_heap *heap, void *root)
{
	struct arena *f = arena_of(heap);

	store_release(f != NULL ? &f->root : &heap_of(heap)->root, (uint64_t)(uintptr_t)root);
}

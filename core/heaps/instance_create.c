/* SPDX-License-Identifier: MIT */
/* Creates heaps of each kind, attaches to heaps in files, and destroys them. */
#include "heaps/instance.h"

#include "arena/arena.h"
#include "backend/heap.h"
#include "backend/region.h"
#include "front/slot.h"
#include "heaps/remains.h"
#include "memory.h"
#include "store/file/open.h"
#include "store/file/store.h"
#include "store/recover/building.h"
#include "store/recover/seats.h"
#include "thread/bin.h"
#include "thread/owner.h"
#include "thread/seat.h"
#include "thread/seating.h"

/* Returns the number of chunks for this capacity. */
static size_t capacity_chunks(size_t capacity)
{
	return capacity / CHUNK_SIZE + (capacity % CHUNK_SIZE != 0);
}

static struct store_size store_size(size_t capacity, const struct ash_heap_options *options)
{
	struct store_size n = {capacity_chunks(capacity), 0};

	n.limit = options != NULL ? capacity_chunks(options->limit) : 0;
	n.limit = n.limit > n.chunks && n.chunks > 0 ? n.limit : n.chunks;
	return n;
}

ash_heap *ash_heap_create(const struct ash_heap_options *options)
{
	struct heap *h = remains_record();
	size_t cap = ash_defaults.cap;

	if (h == NULL)
		return NULL;
	if (options != NULL)
		cap = capacity_chunks(options->cap) << CHUNK_SHIFT;
	heap_configure(h, cap, options);
	h->id = heap_new_id(false);
	h->sharing = PAGES_PRIVATE;
	fork_watch(h); /* now, so that the generation of each record will be known */
	h->settled = generation_now();
	store_relaxed(&heap_hooks, &instance_hooks); /* see heap_hooks_now */
	remains_use(h);
	return heap_public(h);
}

/* Returns the handle of a store, or NULL if s is NULL. */
static ash_heap *shared(struct store *s)
{
	if (s == NULL)
		return NULL;
	store_relaxed(&heap_hooks, &instance_hooks); /* see heap_hooks_now */
	return heap_public(&s->heap);
}

ash_heap *ash_heap_create_shared(size_t capacity, const struct ash_heap_options *options)
{
	return shared(store_create(store_size(capacity, options), options));
}

ash_heap *ash_heap_create_file(int fd, size_t capacity, const struct ash_heap_options *options)
{
	enum ash_attach why;

	return shared(store_create_file(fd, store_size(capacity, options), options, &why));
}

/* Attaches to the heap in a file.  `layout` is the expected layout, or NULL if any layout will do. */
static ash_heap *attach(int fd, const struct layout *layout, enum ash_attach *why)
{
	enum ash_attach reason;
	uint64_t file;
	struct store *s = store_attach(fd, layout, &file, &reason);

	if (why != NULL)
		*why = reason;
	(void)shared(s);
	if (s == NULL)
		return NULL;
	reattach(s, file);
	(void)ash_heap_recover(heap_public(&s->heap));
	return heap_public(&s->heap);
}

ash_heap *ash_heap_attach_file(int fd, enum ash_attach *why)
{
	return attach(fd, NULL, why);
}

/* Tries once to attach, or to make a heap if there is no heap. */
static ash_heap *open_or_make(int fd, size_t capacity, const struct ash_heap_options *options,
			      const struct layout *layout, enum ash_attach *why)
{
	ash_heap *heap = attach(fd, layout, why);

	/* A file without a heap may get one. */
	if (heap == NULL && (*why == ASH_ATTACH_NO_HEAP || *why == ASH_ATTACH_UNFINISHED)) {
		heap = shared(store_create_file(fd, store_size(capacity, options), options, why));
		/* Another thread made a heap in the file first. */
		if (heap == NULL && *why == ASH_ATTACH_NO_HEAP)
			heap = attach(fd, layout, why);
	}
	return heap;
}

ash_heap *ash_heap_open_file(int fd, size_t capacity, const struct ash_heap_options *options,
			     enum ash_attach *why)
{
	struct claim_wait wait = {{0, 0, 0}, {0}, 0};
	enum ash_attach reason = ASH_ATTACH_LAYOUT;
	struct layout layout;
	ash_heap *heap = NULL;
	bool has_one = layout_of(options, &layout);

	if (has_one && capacity == 0)
		heap = attach(fd, &layout, &reason);
	else if (has_one)
		do
			heap = open_or_make(fd, capacity, options, &layout, &reason);
		while (reason == ASH_ATTACH_UNFINISHED && claim_wait(fd, &wait));
	if (why != NULL)
		*why = reason;
	return heap;
}

bool ash_heap_adopt_file(int fd)
{
	return store_adopt(fd);
}

/* ---- in memory of the caller ---- */

/*
 * If the memory lies in a block of the calling thread's slab, the release of that block must take the path on which
 * arenas are removed from the list.  The release takes that path if the slab is armed (slab_arm), which a spare is
 * not.  A slab with other slots, too, loses its hints instead: releases find them missing.
 */
static void block_arm(const void *memory)
{
	struct chunk *c = map_find(memory);
	struct heap *h = c == NULL ? NULL : chunk_heap(c);
	struct seat_entry *t = NULL;
	struct owner *o;
	struct slab *s;
	unsigned i;

	if (c == NULL || !slab_find(c, memory, &s) || s->slot_size < ARENA_MIN)
		return;
	if (load_relaxed(&s->slots) != 1) {
		/*
		 * The slab stays, because the block belongs to the caller.  Relaxed, because a missing hint is always
		 * correct.
		 */
		for (i = 0; i < s->units; i++)
			store_relaxed(&map_unit(c->base + ((size_t)s->unit << UNIT_SHIFT))[i], (struct slab *)NULL);
		return;
	}
	if (h != &heap_default)
		o = seats_guess(h, &t);
	else if ((o = seat.open == 0 ? NULL : seat.self) != NULL)
		seat_close();
	if (o == NULL)
		return;
	if (owner_has(o, s)) {
		struct building b = building_begin(h, o);

		if (s->spare)
			spares_remove(o, s);
		(void)slab_arm(s);
		building_end(b);
	}
	if (t != NULL)
		seats_give(t, o);
	else
		seat_open();
}

ash_heap *ash_heap_create_in(void *memory, size_t bytes)
{
	uint64_t begin = (uintptr_t)memory, end = begin + bytes, i;
	struct arena *a = arena_in(begin);

	if (!arena_fits(memory, bytes, ARENA_MIN))
		return NULL;
	i = arenas_reserve(begin, end);
	if (i == ASH_HEAPS_IN_MAX)
		return NULL;
	block_arm(memory);
	arena_set_up(a, begin, end);
	arenas_publish(i, a);
	store_relaxed(&heap_hooks, &instance_hooks); /* see heap_hooks_now */
	return (ash_heap *)(void *)a;
}

/* ---- destroying ---- */

void ash_heap_destroy(ash_heap *heap)
{
	struct heap *h = heap_of(heap);

	if (heap == NULL || arenas_leave(heap))
		return;
	if (!pages_mapped(heap) || h->sharing > PAGES_SHARED)
		misuse_report(CALL_HEAP_DESTROY, heap, "heap already destroyed", NULL, 0);
	if (store_shared(h) != NULL) {
		ash_heap_thread_detach(heap);
		arenas_gone(store_of(h), store_of(h)->bytes);
		seats_close(h);
		store_leave(store_of(h));
		return;
	}
	seats_close(h);
	remains_leave(h);
}

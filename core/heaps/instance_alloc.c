/* SPDX-License-Identifier: MIT */
#include "heaps/instance_alloc.h"

#include "arena/arena_alloc.h"
#include "backend/map.h"
#include "backend/retain.h"
#include "front/slot.h"
#include "front/span.h"
#include "front/trim.h"
#include "heaps/instance.h"
#include "memory.h"
#include "shm/building.h"
#include "shm/census.h"
#include "shm/census_join.h"
#include "shm/seats.h"
#include "slab/unowned.h"
#include "thread/refill.h"
#include "thread/watch.h"

/* Takes the bin's lowest free slot; `at`: the address of its word, which is not 0. */
static inline void *slot_take(const struct heap *h, struct owner *o, struct bin *b, uint64_t *at)
{
	uint64_t word = load_relaxed(at);
	unsigned bit = (unsigned)cpu_lowest_bit(word);
	char *p = b->base + bit * b->size;
	uint16_t *tags;

	if (h->sharing != PAGES_SHARED) {
		store_relaxed(at, bits_without_lowest(word));
		return p;
	}
	tags = census_tag(b->slab, (uint64_t)(at - b->slab->free) * GROUP_SLOTS);
	/*
	 * In this order, as the thread may be killed at any point (recover.h): first the
	 * slot is recorded as in flight, then its tag is set, then it is taken.  When it is
	 * no longer in flight, nothing is left to undo.
	 */
	store_release(&o->flight, (uint64_t)(uintptr_t)p);
	store_release(&tags[bit], (uint16_t)o->census);
	store_release(at, bits_without_lowest(word));
	store_release(&o->flight, 0);
	return p;
}

/*
 * A slot of an unowned slab, for a thread without a record.  rest: for a thread whose slabs
 * are full, while no memory is left for another slab.
 */
static void *slot_unowned(struct heap *h, unsigned class, bool rest)
{
	struct owner *self = seats_self(h);
	uint16_t tag = h->sharing == PAGES_SHARED ? census_mine(store_of(h), self) : TAG_NONE;
	struct building b = building_begin(h, self);
	void *p = rest ? unowned_rest(h, class) : unowned_slot(h, class);
	struct slot_ref at;

	if (p != NULL && h->sharing == PAGES_SHARED && slot_find(map_find(p), p, &at))
		/* Pairs with lost_slots: a slot with a tag is not in flight. */
		store_release(census_tag(at.slab, at.index), tag);
	building_end(b);
	return p;
}

/* A slot of the class; clean: it is known to read zero.  NULL: no memory. */
static void *slot(struct heap *h, unsigned class, bool *clean)
{
	struct seat_entry *t;
	struct owner *o = seats_take(h, &t);
	struct bin *bin;
	void *p = NULL;
	bool more = true;

	if (unlikely(o == NULL)) {
		*clean = false;
		return slot_unowned(h, class, false);
	}
	bin = &o->bins[class];
	while (unlikely(load_relaxed(bin_word(o, bin)) == 0) && more) {
		struct building b = building_begin(h, o);

		more = refill_bin(o, class);
		watch_count(o, 1);
		building_end(b);
	}
	if (more) {
		*clean = ((bin->slab->dirty >> (bin_word(o, bin) - bin->slab->free)) & 1) == 0;
		p = slot_take(h, o, bin, bin_word(o, bin));
	}
	seats_give(t, o);
	if (unlikely(p == NULL)) {
		*clean = false;
		p = slot_unowned(h, class, true);
	}
	return p;
}

static void *span(struct heap *h, size_t size, size_t alignment, bool zero)
{
	struct seats_call call = seats_enter(h);
	uint16_t tag = h->sharing == PAGES_SHARED ? census_mine(store_of(h), call.self) : TAG_NONE;
	struct building b = building_begin(h, call.self);
	char *p = span_alloc(h, size, alignment, zero);

	/* Pairs with examine_chunk: a span without a tag was not handed out. */
	if (p != NULL && h->sharing == PAGES_SHARED)
		store_release(&map_find(p)->clean, tag);
	building_end(b);
	seats_exit(call);
	return p;
}

static void *attempt(struct heap *h, size_t size, size_t alignment, bool zero)
{
	unsigned class = class_aligned(size, alignment);
	bool clean;
	void *p;

	if (class == CLASSES)
		return span(h, size > 0 ? size : 1, alignment, zero);
	p = slot(h, class, &clean);
	if (p != NULL && zero && !clean)
		memset(p, 0, size);
	return p;
}

static void gather(struct heap *h)
{
	struct seats_call call = seats_enter(h);
	struct building b = building_begin(h, call.self);

	heap_gather(h, call.owner);
	building_end(b);
	seats_exit(call);
}

void *instance_alloc(struct heap *h, size_t size, size_t alignment, bool zero)
{
	void *p;

	if (!span_may_align(alignment) || size > PTRDIFF_MAX)
		return NULL;
	if (arena_of(heap_public(h)) != NULL) {
		p = arena_alloc(arena_of(heap_public(h)), size, alignment);
		if (p != NULL && zero)
			memset(p, 0, size);
		return p;
	}
	p = attempt(h, size, alignment, zero);
	/* Before NULL is returned, recovers what dead threads left, and gathers empty slabs. */
	if (p == NULL && h->sharing == PAGES_SHARED) {
		(void)ash_heap_recover(heap_public(h));
		gather(h);
		p = attempt(h, size, alignment, zero);
	}
	return p;
}

static __attribute__((noinline)) void *instance_alloc_slow(struct heap *h, size_t size)
{
	bool clean;
	void *p;

	if (unlikely(h->sharing >= PAGES_CALLERS))
		return instance_alloc(h, size, 1, false);
	if (likely(size <= SLOT_MAX) && likely((p = slot(h, class_of(size), &clean)) != NULL))
		return p;
	return instance_alloc(h, size, 1, false);
}

/*
 * No thread has a seat in an arena: its id 0 leads to the slow path.  Otherwise the fast
 * path is that of ash_alloc, but for the seat and for the words that recovery needs.
 */
FAST void *ash_heap_alloc(ash_heap *heap, size_t size)
{
	struct heap *h = heap_of(heap);
	struct owner *o;
	struct seat_entry *t;
	struct bin *b;
	uint64_t *word;
	void *p;

	if (unlikely(size > SLOT_SMALL) || unlikely((o = seats_guess(h, &t)) == NULL))
		return instance_alloc_slow(h, size);
	b = bin_small(o, class_small[(size + 7) / 8]);
	word = bin_word(o, b);
	if (unlikely(load_relaxed(word) == 0)) {
		seats_give(t, o);
		return instance_alloc_slow(h, size);
	}
	p = slot_take(h, o, b, word);
	seats_give(t, o);
	return p;
}

void *ash_heap_zalloc(ash_heap *heap, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return instance_alloc(heap_of(heap), bytes, 1, true);
}

void *ash_heap_aligned_alloc(ash_heap *heap, size_t alignment, size_t size)
{
	return instance_alloc(heap_of(heap), size, alignment, false);
}

size_t ash_heap_good_size(ash_heap *heap, size_t size)
{
	if (arena_of(heap) != NULL && size <= PTRDIFF_MAX)
		return size <= GRANULE ? GRANULE : (size + GRANULE - 1) & ~(GRANULE - 1);
	return ash_good_size(size);
}

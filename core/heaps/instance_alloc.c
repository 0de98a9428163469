/* SPDX-License-Identifier: MIT */
#include "heaps/instance.h"

#include "backend/map.h"
#include "backend/retain.h"
#include "front/block.h"
#include "front/slot.h"
#include "front/span.h"
#include "heaps/building.h"
#include "heaps/seats.h"
#include "memory.h"
#include "slab/unowned.h"
#include "thread/bin.h"
#include "thread/refill.h"

/*
 * Takes the lowest free slot of the bin's current slab.  Returns NULL if refill_bin has to look for a slot.  Sets
 * *clean as refill_slot does.
 */
static ALWAYS_INLINE void *slot_take(struct owner *o, struct bin *b, bool *clean)
{
	struct slab *s = bin_slab(o, b);
	uint64_t word, g;

	if (unlikely(s->ready == 0))
		return NULL;
	g = cpu_lowest_bit(s->ready);
	word = slab_ready_word(s, g);
	if (unlikely(word == 0))
		return NULL;
	*clean = !s->dirty;
	return slab_take_slot(s, g, word, cpu_lowest_bit(word));
}

/*
 * slot_take in any heap.  `draft` names the block of a shared heap (kind.h), or is NULL.  A test of the kind, because
 * slot_take is inlined for heaps of this process.
 */
static void *slot_take_in(struct heap *h, struct owner *o, struct bin *b, bool *clean, void *draft)
{
	return heap_kind(h)->own_records ? slot_take(o, b, clean) : instance_kind_of(h)->slot_take(o, b, clean, draft);
}

/*
 * Takes a slot of an unowned slab, for a thread without a record.  `rest` is for a thread whose slabs are full when
 * there is no memory for another slab.
 */
static void *slot_unowned(struct heap *h, unsigned class, bool rest, void *draft)
{
	struct owner *self = seats_self(h);
	uint64_t word = instance_kind_of(h)->taking(h, self, draft);
	struct building b = building_begin(h, self);
	void *p = rest ? unowned_rest(h, class) : unowned_slot(h, class);

	instance_kind_of(h)->taken(p, word, draft);
	building_end(b);
	return p;
}

bool instance_refill(struct heap *h, struct owner *o, unsigned class)
{
	struct building b = building_begin(h, o);
	bool more = refill_bin(o, class);

	owner_count(o);
	building_end(b);
	return more;
}

/*
 * Takes a slot of the class.  Sets *clean to whether the slot is known to read zero.  Returns NULL if there is no
 * memory.
 */
static void *slot(struct heap *h, unsigned class, bool *clean, void *draft)
{
	struct seat_entry *t;
	struct owner *o = seats_guess(h, &t);
	struct bin *bin;
	void *p = NULL;
	bool more = true;

	if (unlikely(o == NULL))
		o = seats_take(h, &t);
	if (unlikely(o == NULL)) {
		*clean = false;
		return slot_unowned(h, class, false, draft);
	}
	bin = &o->bins[class];
	while (unlikely((p = slot_take_in(h, o, bin, clean, draft)) == NULL) && more)
		more = instance_refill(h, o, class);
	seats_give(t, o);
	if (unlikely(p == NULL)) {
		*clean = false;
		p = slot_unowned(h, class, true, draft);
	}
	return p;
}

static void *span(struct heap *h, size_t size, size_t alignment, bool zero, void *draft)
{
	struct seats_call call = seats_enter(h);
	uint64_t word = instance_kind_of(h)->taking(h, call.self, draft);
	struct building b = building_begin(h, call.self);
	char *p = span_alloc(h, size, alignment, zero);

	instance_kind_of(h)->taken(p, word, draft);
	building_end(b);
	seats_exit(call);
	return p;
}

static void *attempt(struct heap *h, size_t size, size_t alignment, bool zero, void *draft)
{
	unsigned class = class_aligned(size, alignment);
	bool clean;
	void *p;

	if (class == CLASSES)
		return span(h, size > 0 ? size : 1, alignment, zero, draft);
	p = slot(h, class, &clean, draft);
	if (p != NULL && zero && !clean)
		memset(p, 0, size);
	return p;
}

/*
 * Gathers also chunks that a thread opened for slabs and left empty because it got units of a chunk that another
 * thread opened, and units with too low a hint: the walk of unowned_shrink finds both.
 */
static void gather(struct heap *h)
{
	struct seats_call call = seats_enter(h);
	struct building b = building_begin(h, call.self);

	heap_gather(h, call.owner);
	building_end(b);
	seats_exit(call);
}

/* Takes a slot of a larger class, if there is no memory for the block's own class. */
static void *larger(struct heap *h, size_t size, size_t alignment, bool *clean, void *draft)
{
	unsigned class = class_aligned(size, alignment);
	struct seat_entry *t;
	struct owner *o = class < CLASSES ? seats_take(h, &t) : NULL;
	struct building b;
	void *p = NULL;

	while (o != NULL && p == NULL && class < CLASSES) {
		b = building_begin(h, o);
		class = refill_larger(o, class, alignment);
		if (class < CLASSES) {
			p = slot_take_in(h, o, &o->bins[class], clean, draft);
			bin_detach(o, class); /* changes a list */
		}
		building_end(b);
	}
	if (o != NULL)
		seats_give(t, o);
	return p;
}

/* Returns NULL if there is no memory, even after recovery and after empty slabs were gathered. */
static void *attempts(struct heap *h, size_t size, size_t alignment, bool zero, void *draft)
{
	void *p = attempt(h, size, alignment, zero, draft);
	bool clean;

	/* Before NULL is returned, recover the memory of dead threads and gather empty slabs. */
	if (p == NULL) {
		instance_kind_of(h)->recover(h);
		gather(h);
		p = attempt(h, size, alignment, zero, draft);
	}
	if (p == NULL && (p = larger(h, size, alignment, &clean, draft)) != NULL && zero && !clean)
		memset(p, 0, size);
	return p;
}

void *instance_draft(struct heap *h, size_t size, bool zero, void *draft)
{
	return size > PTRDIFF_MAX ? NULL : attempts(h, size, 1, zero, draft);
}

void *instance_alloc(struct heap *h, size_t size, size_t alignment, bool zero)
{
	if (!span_may_align(alignment) || size > PTRDIFF_MAX)
		return NULL;
	return attempts(h, size, alignment, zero, NULL);
}

__attribute__((noinline)) void *instance_alloc_slow(struct heap *h, size_t size)
{
	bool clean;
	void *p;

	if (likely(size <= SLOT_MAX) && likely((p = slot(h, class_of(size), &clean, NULL)) != NULL))
		return p;
	return instance_alloc(h, size, 1, false);
}

static __attribute__((noinline)) void *alloc_any_kind(struct heap *h, size_t size)
{
	return instance_kind(heap_public(h))->alloc_as(h, size, 1, false);
}

static __attribute__((noinline)) void *alloc_other(struct heap *h, size_t size)
{
	/* A test, because instance_kind would cost 6 instructions more. */
	if (likely(h->sharing == PAGES_SHARED))
		return load_relaxed(&instance_kinds[PAGES_SHARED])->alloc(h, size);
	return alloc_any_kind(h, size);
}

/* This fast path differs from that of ash_alloc only in the seat. */
FAST void *ash_heap_alloc(ash_heap *heap, size_t size)
{
	struct heap *h = heap_of(heap);
	struct owner *o;
	struct seat_entry *t;
	bool clean;
	void *p;

	if (unlikely(h->sharing != PAGES_PRIVATE))
		return alloc_other(h, size);
	if (unlikely(size > SLOT_SMALL) || unlikely((o = seats_guess(h, &t)) == NULL))
		return instance_alloc_slow(h, size);
	p = slot_take(o, bin_small(o, class_small[(size + 7) / 8]), &clean);
	seats_give(t, o);
	return likely(p != NULL) ? p : instance_alloc_slow(h, size);
}

void *ash_heap_zalloc(ash_heap *heap, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return instance_kind(heap)->alloc_as(heap_of(heap), bytes, 1, true);
}

void *ash_heap_aligned_alloc(ash_heap *heap, size_t alignment, size_t size)
{
	return instance_kind(heap)->alloc_as(heap_of(heap), size, alignment, false);
}

void *ash_heap_aligned_zalloc(ash_heap *heap, size_t alignment, size_t size)
{
	return instance_kind(heap)->alloc_as(heap_of(heap), size, alignment, true);
}

size_t ash_heap_good_size(ash_heap *heap, size_t size)
{
	return instance_kind(heap)->good_size(size);
}

/* SPDX-License-Identifier: MIT */
#include "heaps/instance.h"

#include "arena/arena_call.h"
#include "backend/map.h"
#include "backend/retain.h"
#include "front/block.h"
#include "front/slot.h"
#include "front/span.h"
#include "memory.h"
#include "slab/unowned.h"
#include "store/recover/block_tags.h"
#include "store/recover/building.h"
#include "store/recover/census.h"
#include "store/recover/intent.h"
#include "store/recover/seats.h"
#include "thread/bin.h"
#include "thread/refill.h"

/*
 * Takes the lowest free slot of the bin's current slab.  Returns NULL if refill_bin has to look for a slot.  Sets
 * *clean as refill_slot does.  `draft` is the intent that names the block, or NULL.
 */
static ALWAYS_INLINE void *slot_take(struct heap *h, struct owner *o, struct bin *b, bool *clean,
				     struct intent *draft)
{
	struct slab *s = bin_slab(o, b);
	uint64_t word, index, g;
	uint16_t *tag;
	char *p;

	if (unlikely(s->ready == 0))
		return NULL;
	g = cpu_lowest_bit(s->ready);
	word = load_relaxed(&s->free[g]);
	if (unlikely(word == 0)) {
		slab_unready(s, g);
		return NULL;
	}
	*clean = !s->dirty;
	index = cpu_lowest_bit(word);
	if (store_shared(h) == NULL)
		return slab_take_slot(s, g, word, index);
	tag = census_tag(s, g * GROUP_SLOTS + index);
	p = s->base + (g * GROUP_SLOTS + index) * s->slot_size;
	/*
	 * The stores are in this order, because the thread may be killed at any point (recover.h): first the slot is
	 * recorded as in flight, then its tag is set, then the slot is taken.  When the slot is no longer in flight,
	 * nothing is left to undo.  A draft is never in flight: until it is published, it has the tag of its intent.
	 */
	if (draft != NULL) {
		store_release(&draft->fresh, (uint64_t)(uintptr_t)p);
		store_release(tag, intent_tag(store_of(h), draft));
		signal_fence();
		return slab_take_slot(s, g, word, index);
	}
	store_release(&truth_of(o)->flight, (uint64_t)(uintptr_t)p);
	store_release(tag, (uint16_t)truth_of(o)->census);
	signal_fence();
	(void)slab_take_slot(s, g, word, index);
	store_release(&truth_of(o)->flight, 0);
	return p;
}

/* Returns the tag of a block that slot_take did not take; a draft gets the tag of its intent. */
static uint16_t tag_for(struct heap *h, struct owner *self, const struct intent *draft)
{
	if (draft != NULL)
		return intent_tag(store_of(h), draft);
	return store_shared(h) == NULL ? TAG_NONE : census_mine(store_of(h), self);
}

/*
 * Takes a slot of an unowned slab, for a thread without a record.  `rest` is for a thread whose slabs are full when
 * there is no memory for another slab.
 */
static void *slot_unowned(struct heap *h, unsigned class, bool rest, struct intent *draft)
{
	struct owner *self = seats_self(h);
	uint16_t tag = tag_for(h, self, draft);
	struct building b = building_begin(h, self);
	void *p = rest ? unowned_rest(h, class) : unowned_slot(h, class);
	struct slot_ref at;

	if (p != NULL && draft != NULL)
		store_release(&draft->fresh, (uint64_t)(uintptr_t)p);
	if (p != NULL && store_shared(h) != NULL && slot_find(map_find(p), p, &at))
		/* Pairs with lost_slots: a slot with a tag is not in flight. */
		store_release(census_tag(at.slab, at.index), tag);
	building_end(b);
	return p;
}

/*
 * Takes a slot of the class.  Sets *clean to whether the slot is known to read zero.  Returns NULL if there is no
 * memory.
 */
static void *slot(struct heap *h, unsigned class, bool *clean, struct intent *draft)
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
	while (unlikely((p = slot_take(h, o, bin, clean, draft)) == NULL) && more) {
		struct building b = building_begin(h, o);

		more = refill_bin(o, class);
		owner_count(o);
		building_end(b);
	}
	seats_give(t, o);
	if (unlikely(p == NULL)) {
		*clean = false;
		p = slot_unowned(h, class, true, draft);
	}
	return p;
}

static void *span(struct heap *h, size_t size, size_t alignment, bool zero, struct intent *draft)
{
	struct seats_call call = seats_enter(h);
	uint16_t tag = tag_for(h, call.self, draft);
	struct building b = building_begin(h, call.self);
	char *p = span_alloc(h, size, alignment, zero);

	if (p != NULL && draft != NULL)
		store_release(&draft->fresh, (uint64_t)(uintptr_t)p);
	/* Pairs with examine_chunk: a span without a tag was not handed out. */
	if (p != NULL && store_shared(h) != NULL)
		store_release(&map_find(p)->clean, tag);
	building_end(b);
	seats_exit(call);
	return p;
}

static void *attempt(struct heap *h, size_t size, size_t alignment, bool zero, struct intent *draft)
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
static void *larger(struct heap *h, size_t size, size_t alignment, bool *clean, struct intent *draft)
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
			p = slot_take(h, o, &o->bins[class], clean, draft);
			bin_detach(o, class); /* changes a list */
		}
		building_end(b);
	}
	if (o != NULL)
		seats_give(t, o);
	return p;
}

/* Returns NULL if there is no memory, even after recovery and after empty slabs were gathered. */
static void *attempts(struct heap *h, size_t size, size_t alignment, bool zero, struct intent *draft)
{
	void *p = attempt(h, size, alignment, zero, draft);
	bool clean;

	/* Before NULL is returned, recover the memory of dead threads and gather empty slabs. */
	if (p == NULL) {
		if (store_shared(h) != NULL)
			(void)ash_heap_recover(heap_public(h));
		gather(h);
		p = attempt(h, size, alignment, zero, draft);
	}
	if (p == NULL && (p = larger(h, size, alignment, &clean, draft)) != NULL && zero && !clean)
		memset(p, 0, size);
	return p;
}

void *instance_draft(struct heap *h, size_t size, bool zero, struct intent *draft)
{
	return size > PTRDIFF_MAX ? NULL : attempts(h, size, 1, zero, draft);
}

void *instance_alloc(struct heap *h, size_t size, size_t alignment, bool zero)
{
	struct arena *a = arena_of(heap_public(h));

	if (a != NULL)
		return arena_call_alloc(a, size, alignment, zero);
	if (!span_may_align(alignment) || size > PTRDIFF_MAX)
		return NULL;
	return attempts(h, size, alignment, zero, NULL);
}

static __attribute__((noinline)) void *instance_alloc_slow(struct heap *h, size_t size)
{
	bool clean;
	void *p;

	if (unlikely(h->sharing >= PAGES_CALLERS))
		return instance_alloc(h, size, 1, false);
	if (likely(size <= SLOT_MAX) && likely((p = slot(h, class_of(size), &clean, NULL)) != NULL))
		return p;
	return instance_alloc(h, size, 1, false);
}

/*
 * No thread has a seat in an arena: its id 0 leads to the slow path.  Otherwise this fast path differs from that of
 * ash_alloc only in the seat and in the words that recovery needs.
 */
FAST void *ash_heap_alloc(ash_heap *heap, size_t size)
{
	struct heap *h = heap_of(heap);
	struct owner *o;
	struct seat_entry *t;
	bool clean;
	void *p;

	if (unlikely(size > SLOT_SMALL) || unlikely((o = seats_guess(h, &t)) == NULL))
		return instance_alloc_slow(h, size);
	p = slot_take(h, o, bin_small(o, class_small[(size + 7) / 8]), &clean, NULL);
	seats_give(t, o);
	return likely(p != NULL) ? p : instance_alloc_slow(h, size);
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

void *ash_heap_aligned_zalloc(ash_heap *heap, size_t alignment, size_t size)
{
	return instance_alloc(heap_of(heap), size, alignment, true);
}

size_t ash_heap_good_size(ash_heap *heap, size_t size)
{
	if (size > PTRDIFF_MAX)
		return 0;
	return arena_of(heap) != NULL ? arena_good_size(size) : block_good(size);
}

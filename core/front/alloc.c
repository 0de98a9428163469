/* SPDX-License-Identifier: MIT */
#include "front/alloc.h"

#include "ashlar.h"
#include "backend/map.h"
#include "backend/region.h"
#include "front/block.h"
#include "front/guard.h"
#include "front/sample.h"
#include "front/slot.h"
#include "front/span.h"
#include "memory.h"
#include "thread/bin.h"
#include "thread/owner.h"

SLOW void *alloc_class(unsigned class, size_t size, size_t alignment, bool zero)
{
	bool clean = true;
	void *p = NULL;

	/* A mapping of its own, as long as these are few. */
	if (IS_HARDENED && class > CLASS_APART && class < CLASSES && region_is_exact())
		p = span_alloc(&heap_default, size + GUARD_BYTES, alignment, zero);
	if (p == NULL && class < CLASSES)
		p = slot_alloc(class, &clean);
	/* Where addresses are short the heap has not grown for a large slot: see units_claim. */
	if (p == NULL && size <= PTRDIFF_MAX && (class == CLASSES || (class > CLASS_ONE && region_exact()))) {
		clean = true;
		p = span_alloc(&heap_default, size + GUARD_BYTES, alignment, zero);
		if (SAMPLED && p != NULL)
			sample_large(p, span_size(size));
	}
	if (p == NULL)
		ash_on_no_memory();
	else if (IS_HARDENED && class > 0)
		guard_new(p, size, chunk_block(map_find(p), p), clean);
	else if (zero && !clean)
		memset(p, 0, size);
	return p;
}

SLOW void *alloc_rest(size_t size, bool zero)
{
	size_t bytes = guard_bytes(size);

	return alloc_class(bytes <= SLOT_MAX ? class_of(bytes) : CLASSES, size, 1, zero);
}

SLOW void *alloc_aligned_rest(size_t alignment, size_t size, bool zero)
{
	if (span_may_align(alignment) && size <= PTRDIFF_MAX)
		return alloc_class(class_aligned(guard_bytes(size), alignment), IS_HARDENED || size > 0 ? size : 1,
				   alignment, zero);
	ash_on_no_memory();
	return NULL;
}

/* Above SLOT_SMALL. */
static __attribute__((noinline)) void *alloc_slow(size_t size)
{
	bool clean;
	void *p = slot_try(size, &clean);

	return likely(p != NULL) ? p : alloc_rest(size, false);
}

/*
 * ash_alloc's slow path: the current slab is full, or the seat was closed.
 *
 * o == owner_none: the thread had no record when ash_alloc read the seat.  If it has one
 * now, a signal handler got it in between and may have opened the seat before ash_alloc
 * closed it.  Then no call is using the record: interrupted ones had none, and those of
 * the handler have returned.
 */
SLOW void *alloc_refill(unsigned small, uint64_t opened, void *owner)
{
	struct owner *o = owner;
	struct bin *b = bin_small(o, small);
	void *p = NULL;
	bool clean;

	if (o == owner_none ? seat.self != o : opened != 0) {
		if (bin_next(o, b) && !sample_in(o, b)) /* owner_none has no slab */
			p = bin_slot(o, b, &clean);
		seat_open(); /* it was open */
		if (likely(p != NULL))
			return p;
	}
	return alloc_class(small / CLASS_SMALL, 0, 1, false); /* the size serves larger classes */
}

/*
 * The fast path: seat, class, slab, lowest group, lowest slot.  It must stay free of calls
 * and locked instructions; tests/golden has its expected instructions.
 */
FAST void *ash_alloc(size_t size)
{
	struct owner *o = SEATED ? seat.self : NULL;
	uint64_t ready, word, sum, opened, g;
	unsigned small;
	struct slab *s;
	void *p;

	if (IS_HARDENED)
		return alloc_guarded(1, size, false);
	if (!SEATED)
		return alloc_rest(size, false);
	if (unlikely(size > SLOT_SMALL) || (SEAT_MAY_BE_NULL && unlikely(o == NULL)))
		return alloc_slow(size);
	signal_fence(); /* self is read before open, see alloc_refill */
	sum = opened = seat.open;
	seat_close();
	small = seat_small(size);
	s = bin_slab(o, bin_small(o, small));
	ready = s->ready;
	if (unlikely(ready == 0))
		return alloc_refill(small, opened, o);
	g = cpu_lowest_bit(ready);
	word = load_relaxed(&s->free[g]);
	/* If the seat was open (~0): a carry, and word - 1, whose AND clears the word's lowest bit. */
	if (unlikely(!__builtin_add_overflow(sum, word, &sum)))
		return alloc_refill(small, opened, o);
	if (SAMPLED && unlikely(sample_counts(s->slot_size))) {
		seat_open_again(opened);
		return alloc_rest(size, false);
	}
	p = s->base + (g * GROUP_SLOTS + cpu_lowest_bit(word)) * s->slot_size;
	sum &= word;
	store_relaxed(&s->free[g], sum);
	signal_fence();
	cpu_and(&s->ready, ready, ready - (sum == 0)); /* clears the lowest bit, without a branch */
	p = slot_predicted(s, p);
	seat_open_again(opened);
	return p;
}

FAST void *ash_alloc_or(size_t size, ash_rest *rest)
{
	bool clean;
	void *p;

	if (IS_HARDENED || unlikely(size > SLOT_SMALL))
		return rest(size);
	p = slot_try(size, &clean);
	return likely(p != NULL) ? p : rest(size);
}

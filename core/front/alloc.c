/* SPDX-License-Identifier: MIT */
/*
 * An allocation and a release of a small block.  Both fast paths touch these words in this order, by plain loads and
 * stores of the calling thread alone.
 *
 *   ash_alloc(size)
 *     seat.self, seat.open    the thread's record; 0 is stored in seat.open, which closes the seat (thread/seat.h)
 *     class_small[size / 8]   the class, whose bin in the record has the current slab
 *     slab.ready              the lowest bit is the first group with a free slot
 *     slab.free[group]        the lowest bit is the first free slot, and is cleared; with the last bit of the group,
 *                             the group's bit in slab.ready is cleared, too
 *     slab.base               the block is at base + slot * slot_size; seat.open is stored, which opens the seat
 *   leaves this path to
 *     alloc_slow              above SLOT_SMALL: a slot of a current slab or of a cached large slab, else alloc_class
 *     alloc_refill            no ready group, or a closed seat: the next slab of the bin's list, else alloc_class
 *     alloc_class             refill_bin (thread/refill.h), or unowned slabs if a call of the thread was interrupted;
 *                             a span above SLOT_MAX; a slot of a larger class; then ash_on_no_memory and NULL
 *
 *   ash_release(p), in release.c
 *     unit hint of p          the slab, by a table without tags (map_guess_slab)
 *     slab.owner              is seat.self: the slab is the thread's own, and no other thread's release waits there
 *     base, reciprocal        the slot, by a multiplication that rejects a p that starts no slot; closes the seat
 *     slab.free[group]        the slot's bit is set; seat.latest is p (slot_predicted); opens the seat
 *   leaves this path to
 *     release_rest            another owner's slab, a stale hint, a closed seat, a span, NULL (remote.c): sets a remote
 *                             bit and notifies the owner, or finds the block by the map.  Reports a p that is no
 *                             block, and a bit that is set already: a double free
 *     release_event           no ready group before, or no taken slot after: the slab becomes the current slab of its
 *                             bin if that slab is full, else lists change (thread/settle.h)
 *
 * The hardened product has its own calls (core/hardened).
 */
#include "front/alloc.h"

#include "ashlar.h"
#include "backend/region.h"
#include "front/slot.h"
#include "front/span.h"
#include "front/variant.h"
#include "memory.h"
#include "thread/bin.h"
#include "thread/owner.h"

SLOW void *alloc_class(unsigned class, size_t size, size_t alignment, bool zero)
{
	bool clean = true;
	void *p = NULL;

	if (class < CLASSES)
		p = slot_alloc(class, &clean);
	/* If addresses are short, the heap has not grown for a large slot: see units_claim. */
	if (p == NULL && size <= PTRDIFF_MAX && (class == CLASSES || (class > CLASS_ONE && region_exact()))) {
		clean = true;
		p = span_alloc(&heap_default, size, alignment, zero);
		sample_large(p, span_size(size));
	}
	if (p == NULL && class < CLASSES) {
		p = slot_larger(class, alignment, &clean);
		if (p != NULL)
			resize_keeps_larger();
	}
	if (p == NULL)
		ash_on_no_memory();
	else if (zero && !clean)
		memset(p, 0, size);
	return p;
}

SLOW void *alloc_rest(size_t size, bool zero)
{
	return alloc_class(size <= SLOT_MAX ? class_of(size) : CLASSES, size, 1, zero);
}

SLOW void *alloc_aligned_rest(size_t alignment, size_t size, bool zero)
{
	if (span_may_align(alignment) && size <= PTRDIFF_MAX)
		return alloc_class(class_aligned(size, alignment), size > 0 ? size : 1, alignment, zero);
	ash_on_no_memory();
	return NULL;
}

/* Allocates a block above SLOT_SMALL. */
static __attribute__((noinline)) void *alloc_slow(size_t size)
{
	bool clean;
	void *p = slot_try(size, &clean);

	return likely(p != NULL) ? p : alloc_rest(size, false);
}

/*
 * The slow path of an allocation if the current slab is full or the seat was closed.  Returns a slot of the next slab
 * on the list if that is possible at once, else NULL.  `opened` is the value of seat.open before the caller closed
 * the seat.
 *
 * If o is owner_none, the thread had no record when ash_alloc read the seat.  If the thread has a record now, a
 * signal handler got the record in between, and may have opened the seat before ash_alloc closed the seat.  Then no
 * call is using the record: interrupted calls had no record, and the calls of the handler have returned.
 */
static SLOW_PART void *alloc_next(size_t size, struct owner *o, uint64_t opened)
{
	struct bin *b = bin_small(o, seat_small(size));
	void *p = NULL;
	bool clean;

	if (o == owner_none ? seat.self != o : opened != 0) {
		if (bin_next(o, b) && !sample_in(o, b)) /* owner_none has no slab */
			p = bin_slot(o, b, &clean);
		seat_open(); /* the seat was open */
	}
	return p;
}

SLOW void *alloc_refill(size_t size, void *owner, uint64_t opened)
{
	void *p = alloc_next(size, owner, opened);

	return likely(p != NULL) ? p : alloc_class(class_of(size), size, 1, false);
}

static SLOW void *alloc_refill_or(size_t size, ash_rest *rest, struct owner *o, uint64_t opened)
{
	void *p = alloc_next(size, o, opened);

	return likely(p != NULL) ? p : rest(size);
}

static SLOW void *alloc_slow_or(size_t size, ash_rest *rest)
{
	bool clean;
	void *p = slot_try(size, &clean);

	return likely(p != NULL) ? p : rest(size);
}

/*
 * The fast path (see the head of this file).  The path must stay free of calls and locked instructions; tests/golden
 * has the expected instructions.  `or` is true for ash_alloc_or.
 */
static ALWAYS_INLINE void *alloc_fast(size_t size, bool or, ash_rest *rest)
{
	struct owner *o = seat.self;
	uint64_t ready, word, left, opened, g;
	struct slab *s;
	void *p;

	if (unlikely(size > SLOT_SMALL) || seat_is_missing(o))
		return or ? alloc_slow_or(size, rest) : alloc_slow(size);
	signal_fence(); /* self is read before open, see alloc_next */
	opened = seat.open;
	seat_close();
	s = bin_slab(o, bin_small(o, seat_small(size)));
	ready = s->ready & opened; /* also 0 if the seat was closed */
	if (unlikely(ready == 0))
		return or ? alloc_refill_or(size, rest, o, opened) : alloc_refill(size, o, opened);
	g = cpu_lowest_bit(ready);
	word = load_relaxed(&s->free[g]);
	if (unlikely(__builtin_sub_overflow(word, 1, &left))) /* word is 0 if a holder vanished before clearing the ready bit */
		return or ? alloc_refill_or(size, rest, o, SEAT_OPEN) : alloc_refill(size, o, SEAT_OPEN);
	if (unlikely(sample_counts(s->slot_size))) {
		seat_open_again(opened);
		return alloc_rest(size, false);
	}
	p = s->base + (g * GROUP_SLOTS + cpu_lowest_bit(word)) * s->slot_size;
	left &= word;
	store_relaxed(&s->free[g], left);
	signal_fence();
	cpu_and(&s->ready, ready, ready - (left == 0)); /* clears the lowest bit, without a branch */
	p = slot_predicted(p);
	seat_open_again(opened);
	return p;
}

FAST void *ash_alloc(size_t size)
{
	return alloc_fast(size, false, NULL);
}

FAST void *ash_alloc_or(size_t size, ash_rest *rest)
{
	return alloc_fast(size, true, rest);
}

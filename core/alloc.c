/* SPDX-License-Identifier: MIT */
#include "ashlar.h"
#include "memory.h"
#include "owner.h"
#include "shared.h"
#include "span.h"

/* A block from a slab: the thread's own, or anybody's where that cannot be. */
static __attribute__((noinline)) void *slot_alloc(unsigned class, bool *clean)
{
	struct owner *o = seat_take();
	void *p;

	if (unlikely(o == NULL)) {
		*clean = false;
		return shared_slot(&heap_default, class);
	}
	p = owner_slot(o, class, clean);
	seat_give(o);
	return p;
}

static __attribute__((noinline)) void *alloc_slow(size_t size)
{
	bool clean;

	if (size <= SLOT_MAX)
		return slot_alloc(class_of(size), &clean);
	if (size > PTRDIFF_MAX)
		return NULL;
	return span_alloc(&heap_default, size, 1, false);
}

/* The group is exhausted; o is checked out. */
static __attribute__((noinline)) void *alloc_refill(struct owner *o, struct bin *b)
{
	bool clean;
	void *p = owner_slot(o, (unsigned)(b - o->bins), &clean);

	seat_give(o);
	return p;
}

/*
 * The fast path: seat, class, word, lowest bit.  It must stay free of calls
 * and of locked instructions; tests/golden holds its instructions.
 */
FAST void *ash_alloc(size_t size)
{
	struct owner *o = seat.owner;
	struct bin *b;
	uint64_t word;
	char *p;

	if (unlikely(size > SLOT_SMALL) || unlikely(o == NULL))
		return alloc_slow(size);
	seat.owner = NULL;
	signal_fence(); /* see seat_take */
	b = &o->bins[class_small[(size + 7) / 8]];
	word = load_relaxed(b->word);
	if (unlikely(word == 0))
		return alloc_refill(o, b);
	store_relaxed(b->word, bits_without_lowest(word));
	p = b->base + cpu_lowest_bit(word) * b->size;
	seat_give(o);
	return p;
}

void *ash_zalloc(size_t count, size_t size)
{
	bool clean;
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
		return NULL;
	if (bytes > SLOT_MAX)
		return span_alloc(&heap_default, bytes, 1, true);
	p = slot_alloc(class_of(bytes), &clean);
	if (p != NULL && !clean)
		memset(p, 0, bytes);
	return p;
}

void *ash_aligned_alloc(size_t alignment, size_t size)
{
	unsigned class;
	bool clean;

	if (alignment == 0 || (alignment & (alignment - 1)) != 0 ||
	    alignment > SPAN_ALIGNMENT_MAX || size > PTRDIFF_MAX)
		return NULL;
	class = class_aligned(size, alignment);
	if (class < CLASSES)
		return slot_alloc(class, &clean);
	return span_alloc(&heap_default, size > 0 ? size : 1, alignment, false);
}

size_t ash_good_size(size_t size)
{
	if (size > PTRDIFF_MAX)
		return 0;
	return size <= SLOT_MAX ? class_size(class_of(size)) : span_size(size);
}

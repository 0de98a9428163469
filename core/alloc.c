/* SPDX-License-Identifier: MIT */
#include "alloc.h"

#include "ashlar.h"
#include "owner.h"
#include "shared.h"
#include "span.h"

void *slot_alloc(unsigned class, bool *clean)
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

static SLOW void *alloc_slow(size_t size)
{
	void *p = NULL;
	bool clean;

	if (size <= SLOT_MAX)
		p = slot_alloc(class_of(size), &clean);
	else if (size <= PTRDIFF_MAX)
		p = span_alloc(&heap_default, size, 1, false);
	if (p == NULL)
		ash_on_no_memory();
	return p;
}

/* The group is exhausted; o is checked out. */
static SLOW void *alloc_refill(struct owner *o, struct bin *b)
{
	bool clean;
	void *p = owner_slot(o, (unsigned)(b - o->bins), &clean);

	seat_give(o);
	if (p == NULL)
		ash_on_no_memory();
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

/* SPDX-License-Identifier: MIT */
/* The calls beside ash_alloc that give a block: built for size, see Makefile. */
#include "alloc.h"

#include "ashlar.h"
#include "memory.h"
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
	seat_give();
	return p;
}

void *ash_zalloc(size_t count, size_t size)
{
	bool clean;
	size_t bytes;
	void *p = NULL;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
		; /* no memory for that */
	else if (bytes > SLOT_MAX)
		p = span_alloc(&heap_default, bytes, 1, true);
	else if ((p = slot_alloc(class_of(bytes), &clean)) != NULL && !clean)
		memset(p, 0, bytes);
	if (p == NULL)
		ash_on_no_memory();
	return p;
}

void *ash_aligned_alloc(size_t alignment, size_t size)
{
	void *p = NULL;
	unsigned class;
	bool clean;

	if (span_may_align(alignment) && size <= PTRDIFF_MAX) {
		class = class_aligned(size, alignment);
		if (class < CLASSES)
			p = slot_alloc(class, &clean);
		else
			p = span_alloc(&heap_default, size > 0 ? size : 1, alignment, false);
	}
	if (p == NULL)
		ash_on_no_memory();
	return p;
}

size_t ash_good_size(size_t size)
{
	if (size > PTRDIFF_MAX)
		return 0;
	return size <= SLOT_MAX ? class_size(class_of(size)) : span_size(size);
}

/* SPDX-License-Identifier: MIT */
/*
 * The calls that know no heap, which libashlar-field.a does not have, for tests that are also
 * those of the whole library: the heap is found among those that the program created.
 */
#include "ashlar_heap.h"
#include "rt.h"
#include "support/wrap.h"

enum { HEAPS = 8 };
static struct {
	const char *memory;
	size_t bytes;
	ash_heap *heap;
} heaps[HEAPS];

/* By the linker's --wrap. */

WRAP(ash_heap *, ash_heap_create_in, (void *memory, size_t bytes))
{
	ash_heap *heap = __real_ash_heap_create_in(memory, bytes);
	size_t i;

	for (i = 0; i < HEAPS - 1 && heaps[i].heap != NULL && heaps[i].memory != memory; i++)
		;
	if (heap != NULL) {
		heaps[i].memory = memory;
		heaps[i].bytes = bytes;
		heaps[i].heap = heap;
	}
	return heap;
}

static ash_heap *heap_with(const void *p)
{
	size_t i;

	for (i = 0; i < HEAPS; i++)
		if ((uintptr_t)p - (uintptr_t)heaps[i].memory < heaps[i].bytes)
			return heaps[i].heap;
	rt_fail(__FILE__, __LINE__, "a block of a heap that was created");
}

void ash_release(void *p)
{
	if (p != NULL)
		ash_heap_release(heap_with(p), p);
}

void ash_release_sized(void *p, size_t size)
{
	ash_heap_release_sized(heap_with(p), p, size);
}

void *ash_resize(void *p, size_t size)
{
	return ash_heap_resize(heap_with(p), p, size);
}

size_t ash_usable_size(const void *p)
{
	return p == NULL ? 0 : ash_heap_usable_size(heap_with(p), p);
}

/* SPDX-License-Identifier: MIT */
/* The names of ashlar_names.h: a single heap that a program shares with child processes. */
#include "ashlar_names.h"

#include "ashlar_heap.h"
#include "atomic.h"
#include "store/allocator.h"

/* The heap, also in child processes, or 0 for the default heap. */
static uint64_t global;

bool init_global_allocator(size_t num_chunks)
{
	uint64_t none = 0;
	ash_heap *heap;

	if (load_acquire(&global) != 0)
		return true;
	if (num_chunks > SIZE_MAX >> CHUNK_SHIFT)
		return false;
	heap = ash_heap_create_shared(num_chunks << CHUNK_SHIFT, NULL);
	/* Pairs with the loads: the heap is complete when its address is visible. */
	if (heap != NULL && !cas_acq_rel(&global, &none, (uint64_t)(uintptr_t)heap))
		ash_heap_destroy(heap); /* another thread was first */
	return heap != NULL;
}

void *alloc(size_t size)
{
	ash_heap *heap = (ash_heap *)(uintptr_t)load_acquire(&global);

	return heap == NULL ? ash_alloc(size) : ash_heap_alloc(heap, size);
}

void *resize(void *p, size_t size)
{
	/* The address of a block determines its heap. */
	return p == NULL ? alloc(size) : ash_resize(p, size);
}

void release(void *p)
{
	ash_release(p);
}

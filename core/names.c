/* SPDX-License-Identifier: MIT */
#include "ashlar_names.h"

#include "region.h"

bool init_global_allocator(size_t num_chunks)
{
	return region_initial(&heap_default, num_chunks);
}

void *alloc(size_t size)
{
	return ash_alloc(size);
}

void *resize(void *p, size_t size)
{
	return ash_resize(p, size);
}

void release(void *p)
{
	ash_release(p);
}

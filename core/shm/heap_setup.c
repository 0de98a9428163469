/* SPDX-License-Identifier: MIT */
#include "shm/heap_setup.h"

#include "atomic.h"
#include "life.h"

uint64_t heap_new_id(bool shared)
{
	static uint64_t count;
	uint64_t n = fetch_add_relaxed(&count, 1) + 1;

	/*
	 * Other processes attach to shared heaps, so the ids must differ between processes as
	 * well.  Count and life have a factor each, as the lives of successive processes
	 * differ by 1, as counts do.
	 */
	if (shared)
		n = n * UINT64_C(0xd1342543de82ef95) +
		    life_of_process() * UINT64_C(0x9e3779b97f4a7c15);
	return n << 1 | shared;
}

void heap_configure(struct heap *h, size_t cap, const struct ash_heap_options *options)
{
	h->own = ash_defaults;
	h->own.cap = cap;
	if (options != NULL) {
		h->own.huge = options->huge;
		if (options->retain != 0)
			h->own.retain = options->retain;
	}
	h->options = &h->own;
}

/* SPDX-License-Identifier: MIT */
/* Of shared.c: what keeps a heap in order, and fills it, while others work in it. */
#include "stress.h"

#include "../bench/random.h"

#include "ashlar_heap.h"

enum { FILLED = 1024 };

int shared_see(void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	(void)block, (void)size, (void)owner;
	++*(size_t *)context;
	return 0;
}

/* The heap is filled, so that others get NULL, recover and gather. */
void shared_fill_up(struct ash_heap *h, uint64_t *r)
{
	static _Thread_local struct block *blocks[FILLED];
	size_t n = 0, size = below(r, 2) == 0 ? 30000 : 200000;

	while (n < FILLED && (blocks[n] = fill(ash_heap_alloc(h, size), 64, n)) != NULL)
		n++;
	while (n > 0)
		shared_leave(h, blocks[--n], r);
}

void shared_upkeep(struct ash_heap *h, uint64_t *r)
{
	struct ash_statistics stats;
	size_t n = 0;

	switch (below(r, 12)) {
	case 0:
		(void)ash_heap_recover(h);
		break;
	case 1:
		(void)ash_heap_trim(h, below(r, 2) * MIB);
		break;
	case 2:
		(void)ash_heap_walk(h, shared_see, &n);
		break;
	case 3:
		if (ash_heap_check(h) != 0)
			fail("ash_heap_check of a shared heap while others work");
		break;
	case 4:
		(void)ash_heap_sync(h);
		break;
	case 5:
		if (!ash_heap_break_seal(h))
			fail("ash_heap_break_seal");
		break;
	case 6:
		ash_heap_thread_detach(h);
		break;
	case 7:
		(void)ash_heap_extend(h, (12 + below(r, 8)) * MIB);
		break;
	case 8:
		shared_fill_up(h, r);
		break;
	case 9:
		(void)ash_heap_release_owner(h, 1); /* this process lives */
		break;
	case 10:
		(void)ash_heap_seal(h);
		break;
	default:
		ash_heap_stats(h, &stats);
	}
}

/* SPDX-License-Identifier: MIT */
#include "arena/arena_resize.h"

#include "arena/arena_alloc.h"
#include "arena/arenas.h"
#include "arena/summary.h"
#include "memory.h"

/* The block at granule `first`, of `have` granules, gets n.  False: the next ones are not free. */
static bool block_fit(struct arena *a, size_t first, size_t have, size_t n)
{
	bool fits = true;

	if (n < have) {
		/* First, as other threads may take the memory afterwards. */
		if (ARENA_LISTED && have >= ARENA_MIN / GRANULE)
			arenas_gone(a->base + first * GRANULE, have * GRANULE);
		run_give(a, first + n, have - n);
	} else if (n > have) {
		summary_enter(a);
		summary_taking(a, first + n);
		fits = run_extend(a, first + have, n - have);
		summary_leave(a);
	}
	return fits;
}

bool arena_fit(struct arena *a, void *p, size_t size)
{
	size_t first = arena_index(a, p);

	return block_fit(a, first, arena_length(a, first), granules_for(size));
}

void *arena_resize(struct arena *a, void *p, size_t size, size_t alignment)
{
	size_t first = arena_index(a, p), have = arena_length(a, first), n = granules_for(size);
	bool stays = ((uintptr_t)p & (alignment - 1)) == 0;
	void *moved;

	if (ARENA_LISTED && have >= ARENA_MIN / GRANULE && (n > have || !stays))
		arenas_gone(p, have * GRANULE);
	if (stays && block_fit(a, first, have, n))
		return p;
	moved = arena_alloc(a, size, alignment);
	if (moved == NULL)
		return NULL;
	memcpy(moved, p, (have < n ? have : n) * GRANULE);
	(void)arena_release(a, p);
	return moved;
}

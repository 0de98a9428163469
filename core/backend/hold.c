/* SPDX-License-Identifier: MIT */
#include "backend/hold.h"

#include "backend/shared.h"

static void hold_note(struct heap *h, uint64_t what, bool notes)
{
	if (unlikely(!heap_kind(h)->own_records))
		shared_hooks_now()->hold(h, what, notes);
}

/*
 * These are not inlined, because they have a score of callers, which are not fast paths, and pages of code
 * count.
 */
__attribute__((noinline)) void hold_run(struct run run, size_t n, bool notes)
{
	hold_note(run.region->heap, hold_chunks(run.first, n), notes);
}

__attribute__((noinline)) void hold_some(const struct chunk *c, unsigned first, unsigned n, bool notes)
{
	hold_note(chunk_heap(c), hold_units(c, first, n), notes);
}

__attribute__((noinline)) void hold_one(const struct slab *s, uint64_t index, bool notes)
{
	hold_note(chunk_heap(load_relaxed(&s->chunk)), hold_slot(s, index), notes);
}

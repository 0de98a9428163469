/* SPDX-License-Identifier: MIT */
/*
 * Fences: slabs without access.  Blocks of size 0 have a class of their own, whose slabs are fences.  Other fences lie
 * at random places among other slabs.  When memory is short a fence goes back like any empty slab.
 */
#include "backend/heap.h"
#include "hardened/quarantine.h"
#include "slab/slab.h"
#include "thread/owner.h"
#include "thread/settle.h"

#define FENCE_EACH    16
#define FENCED_CHUNKS 4096 /* 8 GiB: each fence parts a mapping, of which the kernel allows 65530 */

bool slab_is_fenced(const struct slab *s)
{
	return load_relaxed(&s->class) == 0 && slab_heap(s) == &heap_default;
}

bool slab_fence(const struct slab *s, bool fenced)
{
	char *p = s->chunk->base + s->unit * UNIT_SIZE;

	if (!slab_is_fenced(s))
		return true;
	if (fenced)
		heap_compare(slab_heap(s), p, s->units * UNIT_SIZE);
	return fence_set(p, s->units * UNIT_SIZE, fenced);
}

/*
 * Makes a fence if fences are at most a sixteenth of the memory in use.  The limit is needed because slabs come and
 * go: without it all free units would become fences.  Retires a fence only if the surplus is large, because a change
 * of access stops all threads of the process for a moment.
 */
static void fence_make(struct owner *o)
{
	uint64_t most = load_relaxed(&o->heap->used) / FENCE_EACH, fences = fence_bytes() / UNIT_SIZE;
	struct slabs *l = &o->bins[0].partial;
	struct slab *s = l->head;

	if (fences <= most && (s = slab_make(o->heap, 0, true, (uint64_t)(uintptr_t)o, false)) != NULL) {
		slabs_append(l, s);
		o->bins[0].slabs++;
	} else if (fences > 4 * most + CHUNK_UNITS && s != NULL) {
		slabs_remove(l, s); /* moved to the tail, to be tried last again if the slab stays */
		slabs_append(l, s);
		if (slab_arm(s))
			slab_retire(o, s);
	}
}

void bin_grew(struct owner *o, unsigned class)
{
	if (o->heap != &heap_default || class > CLASS_ONE)
		return;
	quarantine_compare(o, class);
	if (load_relaxed(&o->heap->reserved) < FENCED_CHUNKS && chance() % FENCE_EACH == 0)
		fence_make(o);
}

void fences_shrink(struct owner *o)
{
	struct slab *s, *next;

	for (s = o->bins[0].partial.head; s != NULL; s = next) {
		next = s->next;
		if (slab_arm(s))
			slab_retire(o, s);
	}
}

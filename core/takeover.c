/* SPDX-License-Identifier: MIT */
#include "takeover.h"

#include "holder.h"
#include "walk.h"

struct takeover takeover_begin(struct heap *h)
{
	return (struct takeover){h, 0, 0};
}

bool takeover_add(struct takeover *t, struct owner *v, uint64_t state)
{
	if (!swap_acquire(&v->state, &state, holder_guest(t->heap)))
		return false;
	if (t->number == 0)
		t->number = fetch_add_relaxed(&t->heap->takeovers, 1) + 1;
	if (unlikely(t->heap->sharing != PAGES_PRIVATE))
		heap_hooks->settle(v);
	owner_reset(v);
	store_relaxed(&v->gather, t->number);
	t->records++;
	return true;
}

/* A slab of a vanished owner, wherever that was in the middle of: from its bitmaps anew. */
static void rebuild_slab(struct owner *v, struct slab *s)
{
	struct shelf *f = &v->shelves[s->class];

	s->spare = false;
	s->opened = s->groups; /* unknown: then none is untouched, */
	s->soiled = UINT32_MAX; /* nor known to be zero */
	(void)slab_collect(s, true);
	slab_refresh(s);
	if (slab_watch(s))
		slab_unmake(v->heap, s);
	else
		slabs_append(slab_is_ready(s) ? &f->partial : &f->exhausted, s);
}

static void rebuild(const struct takeover *t)
{
	struct walk w = walk_from(t->heap);
	struct slab *s;

	while ((s = walk_next(&w)) != NULL) {
		uint64_t word = walk_at_slab(&w) ? load_acquire(&s->owner) & ~OWNER_PENDING : 0;
		struct owner *v = (struct owner *)(uintptr_t)word;

		/* While the record is in the batch, nobody else moves its slabs. */
		if (word > OWNER_SHARED && load_relaxed(&v->gather) == t->number)
			rebuild_slab(v, s);
	}
}

size_t takeover_end(struct takeover *t)
{
	struct owner *v;

	if (t->records == 0)
		return 0;
	rebuild(t);
	for (v = load_acquire(&t->heap->owners); v != NULL; v = v->next) {
		if (load_relaxed(&v->gather) != t->number)
			continue;
		store_relaxed(&v->gather, 0);
		owner_vacate(v);
		owner_visit(v);
	}
	return t->records;
}

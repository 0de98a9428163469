/* SPDX-License-Identifier: MIT */
#include "fork.h"

#include "pages.h"
#include "walk.h"

static uint64_t held(uint64_t generation, uint64_t thread)
{
	return generation << OWNER_STAMP | thread << OWNER_THREAD | OWNER_HELD;
}

static uint64_t generation_now(const struct heap *h)
{
	const uint64_t *mark = load_acquire(&h->mark);
	/*
	 * Generation after the mark, as fork_settle sets the mark before it: who
	 * sees the mark set may see the old generation, which is the right one
	 * until the next fork.
	 */
	bool forked = mark != NULL && process_has_forked(mark);

	return load_acquire(&h->generation) + (forked ? 1 : 0);
}

uint64_t holder_seated(const struct heap *h)
{
	if (unlikely(h->sharing != PAGES_PRIVATE))
		return heap_hooks->holder();
	return held(generation_now(h), process_thread());
}

uint64_t holder_guest(const struct heap *h)
{
	if (unlikely(h->sharing != PAGES_PRIVATE))
		return heap_hooks->holder() | OWNER_GUEST;
	/* No thread: it is about to let go, and in a process of its own cannot die first. */
	return held(generation_now(h), 0) | OWNER_GUEST;
}

void fork_watch(struct heap *h)
{
	uint64_t *mark, none = 0;

	if (load_acquire(&h->mark) != NULL || h->sharing != PAGES_PRIVATE)
		return;
	mark = process_mark();
	if (mark != NULL &&
	    !swap_acq_rel((uint64_t *)(void *)&h->mark, &none, (uint64_t)(uintptr_t)mark))
		(void)pages_release(mark, PAGE_SIZE);
}

/* A slab of a vanished owner, wherever that was in the middle of: from its bitmaps anew. */
static void rebuild_slab(struct owner *v, struct slab *s)
{
	struct shelf *f = &v->shelves[s->class];
	uint64_t used = SLAB_IN_USE;

	(void)swap_acq_rel(&s->hold, &used, SLAB_IDLE);
	s->spare = false;
	s->opened = s->groups; /* unknown: then none is untouched, */
	s->soiled = UINT32_MAX; /* nor known to be zero */
	(void)slab_collect(s, true);
	slab_refresh(s);
	if (slab_watch(s) && slab_take(v->heap, s))
		slab_unmake(v->heap, s);
	else
		slabs_append(slab_is_ready(s) ? &f->partial : &f->exhausted, s);
}

static void rebuild(struct owner *v)
{
	struct walk w = walk_from(v->heap);
	struct slab *s;

	owner_reset(v);
	while ((s = walk_next(&w)) != NULL)
		if (walk_at_slab(&w) && owner_has(v, s))
			rebuild_slab(v, s);
}

bool owner_take_over(struct owner *v, uint64_t state)
{
	if (!swap_acquire(&v->state, &state, holder_guest(v->heap)))
		return false;
	if (unlikely(v->heap->sharing != PAGES_PRIVATE))
		heap_hooks->settle(v);
	rebuild(v);
	owner_vacate(v);
	owner_visit(v);
	return true;
}

static bool holder_is_gone(const struct owner *v, const struct owner *o, uint64_t state)
{
	uint64_t thread = state >> OWNER_THREAD & OWNER_THREAD_MASK;

	if (unlikely(v->heap->sharing != PAGES_PRIVATE))
		return heap_hooks->is_dead(state);
	/*
	 * Records from before a fork are for fork_settle.  The heap's first record
	 * may be from before a fork that no mark tells of: then its thread id is
	 * the parent's, and its holder is the child's first thread, which lives.
	 */
	return v->of_process && thread != 0 && o != NULL &&
	       state >> OWNER_STAMP == load_relaxed(&o->state) >> OWNER_STAMP &&
	       process_thread_is_gone(thread);
}

size_t owner_reap(struct heap *h, struct owner *o)
{
	struct owner *v;
	size_t n = 0;

	for (v = load_acquire(&h->owners); v != NULL; v = v->next) {
		uint64_t state = load_acquire(&v->state);

		if (v != o && state != OWNER_VACANT && holder_is_gone(v, o, state))
			n += owner_take_over(v, state);
	}
	return n;
}

void fork_settle(struct owner *o)
{
	struct heap *h = o->heap;
	uint64_t generation = load_acquire(&h->generation);
	struct owner *v;

	/* It is for the one that forked, and not in the middle of a visit. */
	if (seat.guest != 0 || !process_is_first_thread())
		return;
	/* Ours first: should we be forked in the middle of this, it must not look lost. */
	store_release(&o->state, held(generation + 1, process_thread()));
	for (v = load_acquire(&h->owners); v != NULL; v = v->next) {
		uint64_t state = load_acquire(&v->state);

		if (v != o && state != OWNER_VACANT && state >> OWNER_STAMP <= generation)
			(void)owner_take_over(v, state);
	}
	/* What vanished threads had released to us, but had not told yet. */
	owner_collect_all(o);
	process_set_mark(h->mark);
	store_release(&h->generation, generation + 1);
}

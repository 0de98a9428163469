/* SPDX-License-Identifier: MIT */
#include "thread/takeover.h"

#include "thread/holder.h"
#include "thread/intact.h"
#include "slab/walk.h"
#include "thread/collect.h"

struct takeover takeover_begin(struct heap *h)
{
	return (struct takeover){h, 0, 0};
}

bool takeover_add(struct takeover *t, struct owner *v, uint64_t state)
{
	if (!cas_acquire(&v->state, &state, holder_guest(t->heap)))
		return false;
	if (t->number == 0)
		t->number = (fetch_add_relaxed(&t->heap->takeovers, 1) + 1) << 1;
	if (unlikely(t->heap->sharing != PAGES_PRIVATE))
		heap_hooks->settle(v);
	v->slabs_seen = 0;
	store_relaxed(&v->gather, t->number);
	t->records++;
	return true;
}

/* A slab of a vanished owner, wherever that was in the middle of: from its bitmaps anew. */
static void rebuild_slab(struct owner *v, struct slab *s)
{
	struct slab_lists *f = &v->lists[s->class];
	uint64_t used = SLAB_IN_USE;

	(void)cas_acq_rel(&s->hold, &used, SLAB_IDLE);
	s->spare = false;
	s->opened = s->groups; /* unknown: then none is untouched, */
	s->dirty = UINT32_MAX; /* nor known to be zero */
	(void)slab_collect(s, true);
	slab_refresh(s);
	if (slab_watch(s) && slab_take(s))
		slab_unmake(v->heap, s);
	else
		slabs_append(slab_is_ready(s) ? &f->partial : &f->full, s);
}

/* Of a record with this in `gather`: the next slab that names it; NULL: the end. */
static struct slab *next_slab(struct walk *w, uint64_t gather, struct owner **v)
{
	struct slab *s;

	while ((s = walk_next(w)) != NULL) {
		uint64_t word = walk_at_slab(w) ? load_acquire(&s->owner) & ~OWNER_PENDING : 0;

		if (w->unit == 0) /* who vanished may have left free units that no hint tells of */
			chunk_mend(w->chunk->region->heap, w->chunk);
		*v = (struct owner *)(uintptr_t)word;
		/* While the record is in the batch, nobody else moves its slabs. */
		if (word != 0 && (word & OWNER_UNOWNED) == 0 &&
		    load_relaxed(&(*v)->gather) == gather)
			return s;
	}
	return NULL;
}

/*
 * Of heaps of this process only: there a record is left at a boundary of this
 * thread's own program order.  Where a thread is killed, settle has changed free words.
 */
static bool is_intact(const struct owner *v)
{
	return v->heap->sharing == PAGES_PRIVATE && owner_is_intact(v, v->slabs_seen);
}

/* What waits to be collected, and of which the letter may be lost. */
static void remind(struct owner *v)
{
	unsigned i;

	for (i = 0; i < INBOX_CLASSES; i++)
		(void)fetch_or_seq_cst(&v->pending_classes[i], bits_run(0, i == 0 ? 64 : CLASSES - 64));
}

/* True: there are records whose lists must be made anew; in `gather` they have the next number. */
static bool sort(const struct takeover *t)
{
	struct walk w = walk_from(t->heap);
	struct owner *v;
	bool any = false;

	while (next_slab(&w, t->number, &v) != NULL)
		v->slabs_seen++;
	for (v = load_acquire(&t->heap->owners); v != NULL; v = v->next) {
		if (load_relaxed(&v->gather) != t->number)
			continue;
		if (is_intact(v)) {
			remind(v);
			continue;
		}
		owner_reset(v);
		store_relaxed(&v->gather, t->number | 1);
		any = true;
	}
	return any;
}

size_t takeover_end(struct takeover *t)
{
	struct walk w = walk_from(t->heap);
	struct owner *v;
	struct slab *s;

	if (t->records == 0)
		return 0;
	if (sort(t))
		while ((s = next_slab(&w, t->number | 1, &v)) != NULL)
			rebuild_slab(v, s);
	for (v = load_acquire(&t->heap->owners); v != NULL; v = v->next) {
		if (load_relaxed(&v->gather) >> 1 != t->number >> 1)
			continue;
		store_relaxed(&v->gather, 0);
		owner_vacate(v);
		owner_visit(v);
	}
	return t->records;
}

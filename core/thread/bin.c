/* SPDX-License-Identifier: MIT */
/* The slow path of a bin: the next group, the next slab, a new slab. */
#include "thread/fork.h"
#include "backend/retain.h"
#include "thread/owner.h"
#include "front/quick.h"
#include "thread/reap.h"
#include "slab/unowned.h"
#include "thread/watch.h"

__attribute__((noinline)) void slabs_append(struct slabs *l, struct slab *s)
{
	s->next = NULL;
	s->previous = l->tail;
	if (l->tail != NULL)
		l->tail->next = s;
	else
		l->head = s;
	l->tail = s;
}

__attribute__((noinline)) void slabs_remove(struct slabs *l, struct slab *s)
{
	if (s->previous != NULL)
		s->previous->next = s->next;
	else
		l->head = s->next;
	if (s->next != NULL)
		s->next->previous = s->previous;
	else
		l->tail = s->previous;
	s->next = s->previous = NULL;
}

/* Group g of the current slab becomes the bin's. */
static void bin_point(struct owner *o, struct bin *b, unsigned g)
{
	watch_group(o, b->slab, g);
	b->word = (uintptr_t)&b->slab->free[g] - (uintptr_t)o;
	b->base = b->slab->base + (size_t)g * GROUP_SLOTS * b->slab->slot_size;
}

/* The next group of the current slab that has a free slot. */
static bool bin_next_group(struct owner *o, struct bin *b)
{
	struct slab *s = b->slab;
	unsigned g = (unsigned)(bin_word(o, b) - s->free);

	/*
	 * Round robin among groups in use: by the time it comes round, a group
	 * has gathered slots.  Memory never used before is touched only when
	 * there is nothing else, not even what others released.
	 */
	do
		while (s->ready != 0) {
			uint64_t after = s->ready & ~bits_run(0, g + 1);

			g = bits_lowest(after != 0 ? after : s->ready);
			if (load_relaxed(&s->free[g]) != 0) {
				bin_point(o, b, g);
				return true;
			}
			store_relaxed(&s->ready, s->ready & ~((uint32_t)1 << g));
		}
	while ((load_relaxed(&s->owner) & OWNER_PENDING) != 0 && slab_collect(s, false));
	if (s->opened == s->groups)
		return false;
	bin_point(o, b, s->opened++);
	return true;
}

void bin_rest(struct owner *o, unsigned class)
{
	struct bin *b = &o->bins[class];
	struct slab *s = b->slab;
	unsigned g;

	if (s == NULL)
		return;
	/* Nothing was released into its group, so it is the last one: its other slots stay clean. */
	g = (unsigned)(bin_word(o, b) - s->free);
	if (((s->dirty >> g) & 1) == 0)
		s->opened = g;
	store_relaxed(&b->slab, (struct slab *)NULL); /* slabs_seen at by watch_tell */
	b->word = 0;
	slab_let_go(s);
	if (!s->spare) /* spares are not watched */
		(void)slab_watch(s);
	slab_refresh(s);
	slabs_append(slab_is_ready(s) ? &o->lists[class].partial : &o->lists[class].full,
		     s);
}

static void bin_take(struct owner *o, unsigned class, struct slab *s)
{
	struct bin *b = &o->bins[class];

	store_relaxed(&b->slab, s);
	b->size = s->slot_size;
	b->word = (uintptr_t)s->free - (uintptr_t)o;
	(void)bin_next_group(o, b); /* should there be none, owner_slot asks again */
	/* Small blocks: their current slab may get empty without more ado. */
	if (b->size <= SPARE_FREE || s->spare)
		s->all_free = 0;
	else
		(void)slab_watch(s);
}

/* The next slab on the list becomes current; a spare only if there is no other. */
static bool bin_next_slab(struct owner *o, unsigned class)
{
	struct slab_lists *f = &o->lists[class];
	struct slab *s = f->partial.head;

	if (s != NULL && s->spare && s->next != NULL)
		s = s->next;
	while (s != NULL && unlikely(!slab_take(s)))
		s = s->next;
	if (s == NULL)
		return false;
	slabs_remove(&f->partial, s);
	bin_take(o, class, s);
	return true;
}

/* One from the list, or a new one. */
static __attribute__((noinline)) bool bin_find_slab(struct owner *o, unsigned class, bool grow)
{
	const struct slabs *l = &o->lists[class].full; /* by now all that there are */
	struct slab *s;

	if (bin_next_slab(o, class))
		return true;
	for (;;) {
		s = slab_make(o->heap, class, l->head == l->tail, (uint64_t)(uintptr_t)o, grow);
		if (s == NULL && grow) /* where memory ends, a small one may still have room */
			s = slab_make(o->heap, class, true, (uint64_t)(uintptr_t)o, grow);
		if (s == NULL)
			return false;
		if (likely(slab_take(s)))
			break;
		/* Somebody looks for what he may purge, since before this was a slab. */
		slabs_append(&o->lists[class].partial, s);
	}
	bin_take(o, class, s);
	return true;
}

/* The current slab has no free slot left. */
static void bin_exhausted(struct owner *o, unsigned class)
{
	struct bin *b = &o->bins[class];
	struct slab *s = b->slab;

	store_relaxed(&b->slab, (struct slab *)NULL); /* slabs_seen at by watch_tell */
	b->word = 0;
	slab_let_go(s);
	if (s->spare)
		spares_forget(o, s);
	(void)slab_watch(s);
	slabs_append(&o->lists[class].full, s);
}

bool bin_refill(struct owner *o, unsigned class)
{
	struct bin *b = &o->bins[class];
	struct slab_lists *f = &o->lists[class];

	if (b->slab != NULL) {
		if (bin_next_group(o, b))
			return true;
		bin_exhausted(o, class);
	}
	fork_notice(o);
	if (f->partial.head == NULL || f->partial.head->spare)
		owner_collect(o);
	if (bin_find_slab(o, class, false))
		return true;
	(void)owner_adopt(o, class, false);
	owner_reap_some(o->heap, o);
	if (bin_find_slab(o, class, false))
		return true;
	/*
	 * News of a release may have been lost.  So each time that the slabs may
	 * have doubled in number, and before the answer is NULL, all of them are
	 * slabs_seen at, and those of vacant records: at most a chunk's worth for each
	 * chunk that the heap grew by.
	 */
	if (o->growths++ * (uint32_t)CHUNK_UNITS <= o->slabs_seen && bin_find_slab(o, class, true))
		return true;
	owner_collect_all(o);
	(void)owner_adopt(o, class, true);
	owner_shrink(o);
	if (bin_find_slab(o, class, true))
		return true;
	/* Where memory ends: what vanished threads left in other classes, and what nobody owns. */
	if (o->heap->sharing == PAGES_PRIVATE)
		owner_shrink_vacant(o->heap);
	(void)unowned_shrink(o->heap);
	return bin_find_slab(o, class, true);
}

void *owner_slot(struct owner *o, unsigned class, bool *clean)
{
	struct bin *b = &o->bins[class];
	bool refilled = false;
	void *p;

	if (QUICK && class > CLASS_ONE && (p = large_take(o, class, clean)) != NULL)
		return p;
	for (; unlikely((p = bin_slot(o, b, clean)) == NULL); refilled = true)
		if (!bin_refill(o, class))
			return NULL;
	if (QUICK && class > CLASS_ONE && !bin_next_group(o, b))
		bin_exhausted(o, class); /* no bin keeps a slab of one slot, see whole.c */
	if (unlikely(refilled))
		watch_heed(o, retain_tick(o->heap, 1));
	return p;
}

void owner_ticks(void)
{
	bool running = retain_tick(&heap_default, 1);

	if (seat.open == 0) {
		/* It was interrupted in a call that may be a fast one; or comes too early (early.h). */
		if (!SEAT_MAY_BE_NULL || seat.self != NULL)
			watch_tell_one(seat.self);
		return;
	}
	seat.open = 0;
	signal_fence(); /* see seat_take */
	watch_heed(seat.self, running);
	seat_give();
}

void owner_freed(struct owner *o, struct slab *s, uint64_t group, uint64_t word)
{
	bool full = !slab_is_ready(s);

	slab_make_ready(s, (uint32_t)1 << group);
	store_release(&s->free[group], word);
	if (full || word == s->all_free)
		owner_settle(o, s, full);
	if (unlikely(load_relaxed(&o->watch) != WATCH_NONE))
		watch_event(o, s, (unsigned)group);
}

void owner_settle(struct owner *o, struct slab *s, bool was_full)
{
	struct slab_lists *f = &o->lists[s->class];

	if (was_full && s != o->bins[s->class].slab) {
		slabs_remove(&f->full, s);
		slabs_append(&f->partial, s);
	}
	if (s->all_free != 0 && slab_watch(s))
		spares_add(o, s);
}

static void shrink_class(struct owner *o, unsigned class)
{
	struct slab_lists *f = &o->lists[class];
	struct slab *s, *next;

	/* One in use rests, too: slots of older slabs come first, and the heap stays dense. */
	bin_rest(o, class);
	for (s = f->partial.head; s != NULL; s = next) {
		next = s->next;
		if (slab_watch(s) && slab_take(s)) {
			slabs_remove(&f->partial, s);
			slab_unmake(o->heap, s);
		}
	}
}

void owner_shrink(struct owner *o)
{
	unsigned class;

	spares_keep(o, 0);
	if (QUICK)
		large_leave(o);
	for (class = 0; class < CLASSES; class++)
		shrink_class(o, class);
	watch_look(o);
}

/* SPDX-License-Identifier: MIT */
#include "front/guarded.h"

#include "backend/map.h"
#include "backend/region.h"
#include "chance.h"
#include "front/guard.h"
#include "front/remote.h"
#include "front/span.h"
#include "memory.h"
#include "pages.h"
#include "thread/bin.h"
#include "thread/seat.h"
#include "thread/seating.h"
#include "vec16.h"

#define QUARANTINE_PLACES 64
#define QUARANTINE_BYTES  ((size_t)16384) /* of one class, or up to the next power of two of places */
#define CLEAR_LONG	  2048		  /* above this the string instruction is faster */

/* The two halves of the places are filled in turn.  Each half has an order of its own: place ^ key. */
struct quarantine {
	struct {
		void *blocks[QUARANTINE_PLACES]; /* NULL in a free place */
		unsigned next, last, half, key;	 /* masks: of a place, of a place in a half */
	} classes[CLASS_ONE + 1];
};

/* Makes a quarantine, or returns NULL if there is no memory.  The seat is closed. */
static SLOW struct quarantine *quarantine_make(struct hardened *own)
{
	struct quarantine *q = pages_reserve((sizeof *q + PAGE_MOST - 1) & ~(PAGE_MOST - 1), PAGE_LEAST, PAGES_RECORDS);
	size_t class, n;

	for (class = 0; q != NULL && class <= CLASS_ONE; class++) {
		for (n = 1; n < QUARANTINE_PLACES && n * class_size((unsigned)class) < QUARANTINE_BYTES; n *= 2)
			;
		q->classes[class].last = (unsigned)n - 1;
		q->classes[class].half = (unsigned)(n - 1) / 2;
	}
	return own->quarantine = q;
}

/*
 * Puts a block into the thread's quarantine if the thread can have a quarantine.  Returns the block that becomes free
 * instead, or NULL.  The seat is open.
 */
static ALWAYS_INLINE void *quarantine_exchange(void *p, unsigned class)
{
	struct quarantine *q;
	struct hardened *own;
	unsigned at;
	void *out;

	seat_close();
	own = seat.self->hardened;
	q = own->quarantine;
	if (unlikely(q == NULL) && (q = quarantine_make(own)) == NULL) {
		seat_open();
		return p;
	}
	q = (struct quarantine *)(void *)&q->classes[class];
	at = q->classes->next++;
	if (unlikely((at & q->classes->half) == 0)) {
		chances_settle(&own->chances);
		q->classes->key = (unsigned)chance_next(&own->chances.state) & q->classes->half;
	}
	at = (at ^ q->classes->key) & q->classes->last;
	out = q->classes->blocks[at];
	q->classes->blocks[at] = p;
	seat_open();
	return out;
}

/* Releases all blocks of a quarantine.  The seat is open. */
static SLOW void quarantine_release(struct quarantine *q)
{
	size_t i;
	void **at, *p;

	for (i = 0; q != NULL && i < (CLASS_ONE + 1) * (size_t)QUARANTINE_PLACES; i++) {
		at = &q->classes[i / QUARANTINE_PLACES].blocks[i % QUARANTINE_PLACES];
		seat_close(); /* handlers use the quarantine, too */
		p = *at;
		*at = NULL;
		seat_open();
		if (p != NULL)
			release_rest(p, map_guess_slab(p));
	}
}

void quarantine_empty(void)
{
	if (seat.open != 0)
		quarantine_release(seat.self->hardened->quarantine);
}

void quarantines_empty(void)
{
	struct owner *o = seat_take(), *v;

	if (o == NULL)
		return;
	fork_notice(o);
	(void)reap_all(&heap_default, o);
	seat_give(o);
	quarantine_empty();
	for (v = owner_after(&heap_default, NULL); v != NULL; v = owner_after(&heap_default, v)) {
		seat.guest++; /* if a handler forks here, this frame holds the record in the child, too */
		signal_fence();
		if (owner_hold(v)) {
			quarantine_release(v->hardened->quarantine);
			visit_end(v);
		}
		signal_fence();
		seat.guest--;
	}
}

void quarantine_compare(const struct owner *o, unsigned class)
{
	const struct quarantine *q = o->hardened->quarantine;
	unsigned i;

	for (i = 0; q != NULL && class > 0 && i <= q->classes[class].last; i++)
		guard_zero(q->classes[class].blocks[i], class_size(class));
}

/* Clears a released block and the mark.  The slot reads zero behind these. */
static ALWAYS_INLINE void slot_clear(void *p, size_t had)
{
	if (unlikely(had >= CLEAR_LONG))
		memset(p, 0, had + 1);
	else
		vec16_clear(p, had + 1);
}

/* Returns the size of a block, and compares the size that the caller told, if any.  Afterwards p is no block any more. */
static ALWAYS_INLINE size_t guarded_size(const char *call, const char *name, const void *p, size_t size, size_t have)
{
	size_t had = guard_size(call, name, p, have);

	if (size != SIZE_UNTOLD && unlikely(size != had))
		guard_report(call, name, p, "wrong size", had);
	return had;
}

ALWAYS_INLINE void *guarded_end(const char *call, const char *name, void *p, size_t size, const struct slab *s)
{
	size_t had = guarded_size(call, name, p, size, s->slot_size);

	guard_take(call, name, p, s->slot_size);
	slot_clear(p, had);
	return quarantine_exchange(p, s->class);
}

void *guarded_end_any(const char *call, const char *name, void *p, size_t size, size_t have)
{
	size_t had = guarded_size(call, name, p, size, have);

	if (unlikely(heap_hooks_now() != NULL))
		heap_hooks_now()->gone(p, have);
	/* A span in a region of its own is not cleared, because its pages go back to the system (region_claim_bytes). */
	if (have != SLOT_MIN && (have <= SLOT_APART || region_alone(map_find(p)->region) == 0)) {
		guard_take(call, name, p, have);
		/* Purges a larger block, so that memory that was not written is not touched. */
		if (have <= SLOT_MAX)
			slot_clear(p, had);
		else if (!pages_purge(p, have, PAGES_PRIVATE))
			memset(p, 0, have);
	}
	return have > SLOT_LARGE || seat.open == 0 ? p : quarantine_exchange(p, class_of(have));
}

/* ---- resizing ---- */

/* Resizes a block in place or, for a span in a region of its own, by moving pages.  Returns NULL if neither is possible. */
static ALWAYS_INLINE void *guarded_reset(const char *call, struct chunk *span, void *p, size_t had, size_t alignment,
					 size_t size, size_t have)
{
	size_t now = have, bytes = size + GUARD_BYTES;
	void *to = p;

	/* As in block_move, a heap in the block ends here. */
	if (unlikely(heap_hooks_now() != NULL) && (alignment != 0 || size < had))
		heap_hooks_now()->gone(p, have);
	guard_lift(call, NULL, p, had, have);
	if (span != NULL) {
		now = span_size(bytes);
		if (alignment != 0)
			to = span_resize(span, p, bytes, alignment);
		else if (!span_fit(span, bytes))
			to = NULL;
		heap_count(); /* memory may have been freed */
	}
	if (to == NULL) {
		guard_set(p, had, have);
		return NULL;
	}
	if (size < had) {
		/* The block may grow again into memory behind its pages. */
		size_t room = span != NULL && to == p ? region_alone(span->region) : now;

		memset((char *)to + size, 0, (had < room ? had : room) - size);
	}
	guard_set(to, size, now);
	return to;
}

void *guarded_resize(const char *call, const char *name, void *p, size_t alignment, size_t size, size_t have)
{
	size_t had = guard_size(call, name, p, have), bytes = size + GUARD_BYTES;
	bool stays = have != SLOT_MIN && (alignment == 0 || ((uintptr_t)p & (alignment - 1)) == 0);
	struct chunk *c = map_find(p), *span = span_is(c, p) && region_alone(c->region) != 0 ? c : NULL;
	void *to = NULL;

	/* As in block_fits.  A size that is too large finds no memory below. */
	if (size <= PTRDIFF_MAX &&
	    (span != NULL ? alignment == 0 || bytes > SLOT_APART
			  : stays && bytes <= have && (alignment == 0 || (size > 0 && bytes >= have / 2))))
		to = guarded_reset(call, span, p, had, alignment, size, have);
	if (to != NULL || alignment == 0)
		return to;
	to = alignment == 1 ? ash_alloc(size) : ash_aligned_alloc(alignment, size);
	if (to == NULL) /* a smaller block needs no memory */
		return stays && size <= had ? guarded_reset(call, span, p, had, 0, size, have) : NULL;
	memcpy(to, p, had < size ? had : size);
	ash_release(p);
	return to;
}

/* ---- ash_find ---- */

void guarded_look(struct ash_block *b, const struct slab *s, bool sure)
{
	size_t have = b->size;
	bool damaged;

	b->size = guard_peek(s, b->start, have, sure, &damaged);
	if (b->size == SIZE_MAX) {
		b->size = have;
		b->place = ASH_FREE;
	} else if (b->offset > 0 && b->offset >= b->size) {
		b->place = ASH_UNUSED;
	}
}

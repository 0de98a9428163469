/* SPDX-License-Identifier: MIT */
#include "hardened/quarantine.h"

#include "backend/map.h"
#include "chance.h"
#include "front/remote.h"
#include "hardened/zero.h"
#include "pages.h"
#include "thread/seat.h"
#include "thread/seating.h"

#define QUARANTINE_PLACES 64
#define QUARANTINE_BYTES  ((size_t)16384) /* of one class, or up to the next power of two of places */

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

ALWAYS_INLINE void *quarantine_exchange(void *p, unsigned class)
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
		zero_compare(q->classes[class].blocks[i], class_size(class));
}

/* SPDX-License-Identifier: MIT */
#include "heaps/seats.h"

#include "heaps/benches.h"
#include "heaps/building.h"
#include "heaps/kind.h"
#include "process.h"
#include "thread/seat.h"
#include "thread/seating.h"
#include "thread/settle.h"

/* Gets a record for the seat. */
static struct owner *fill(struct seat_entry *t, struct heap *h)
{
	if (load_relaxed(&t->self) != NULL)
		return NULL;
	return instance_kind_of(h)->seat_fill(h, t);
}

struct owner *seats_take(struct heap *h, struct seat_entry **t)
{
	struct seat_entry *e = seat_entry_for(h);
	struct owner *o;

	if (unlikely(e == NULL))
		return NULL;
	*t = e;
	o = seat_checkout(e, h->id);
	return likely(o != NULL) ? o : fill(*t, h);
}

void seats_leave(struct seat_entry *t)
{
	signal_fence(); /* see seat_leave */
	store_relaxed(&t->self, (struct owner *)NULL);
	signal_fence();
	store_relaxed(&t->id, 0);
}

struct owner *seats_self(struct heap *h)
{
	struct bench *b = thread_bench_look(seats_kind(h));
	struct seat_entry *e = b == NULL ? NULL : bench_find(b, h->id);
	struct owner *o = e == NULL ? NULL : load_relaxed(&e->self);

	return o == SEAT_BUSY ? NULL : o;
}

struct seats_call seats_enter(struct heap *h)
{
	struct seats_call call;

	call.owner = seats_guess(h, &call.entry);
	if (unlikely(call.owner == NULL))
		call.owner = seats_take(h, &call.entry);
	call.self = call.owner != NULL ? call.owner : seats_self(h);
	return call;
}

/* ---- leaving ---- */

void record_rest(struct heap *h, struct owner *o)
{
	struct building b = building_begin(h, o);

	instance_kind_of(h)->rests(o);
	shrink_before_vacate(o);
	building_end(b);
}

void record_vacate(struct heap *h, struct owner *o)
{
	struct building b;

	owner_vacate(o);
	b = building_begin(h, NULL);
	visit_vacant(o);
	building_end(b);
}

void seats_close(struct heap *h)
{
	unsigned kind = seats_kind(h);
	struct seat_entry *e;
	struct bench *b;

	for (b = benches_first(kind); b != NULL; b = b->next) {
		struct seat_page *page = load_acquire(&b->page);
		uint64_t id = h->id, closing = ID_CLOSING, known, left;
		struct owner *o;

		/* An inherited page has the parent's seats.  The page is wiped, or about to be wiped. */
		if (page == NULL || (kind == SEATS_SHARED && process_has_forked(&page->mark)))
			continue;
		known = load_relaxed(&page->known[0]);
		e = bench_find(b, id);
		/*
		 * Compare-and-swaps, because the thread may end now.  Their orders pair with part_clear and
		 * part_claim.  This word does not make the thread's stores to the entry visible; they are visible
		 * because the program knows that the thread no longer uses the heap.
		 */
		if (e == NULL || !cas_acq_rel(&e->id, &id, ID_CLOSING))
			continue;
		/*
		 * An unused entry must have no record, because 0 is the id of arenas.  A compare-and-swap, because
		 * the thread may end at this moment and another thread take its bench.
		 */
		o = load_relaxed(&e->self);
		left = (uint64_t)(uintptr_t)o;
		(void)cas_acq_rel((uint64_t *)(void *)&e->self, &left, 0);
		(void)cas_acq_rel(&e->id, &closing, 0);
		if (o != NULL && o != SEAT_BUSY)
			instance_kind_of(h)->seat_closed(h, o, known);
	}
}

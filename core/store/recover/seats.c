/* SPDX-License-Identifier: MIT */
#include "store/recover/seats.h"

#include "process.h"
#include "store/file/open.h"
#include "store/file/store.h"
#include "store/recover/benches.h"
#include "store/recover/block_tags.h"
#include "store/recover/building.h"
#include "store/recover/census.h"
#include "store/recover/recover.h"
#include "thread/seat.h"
#include "thread/seating.h"
#include "thread/settle.h"

/*
 * All records are in use, some perhaps by threads that have died.  The kernel is asked only now and then, because in
 * a heap of more threads than records each call comes here.
 */
static struct owner *fill_after_reaping(struct seat_entry *t, struct heap *h)
{
	enum { NOW_AND_THEN = 1024 };
	struct store *s = store_shared(h);

	if (load_relaxed(&t->self) != NULL || s == NULL || fetch_add_relaxed(&s->refused, 1) % NOW_AND_THEN != 0 ||
	    reap_all(h, NULL) == 0)
		return NULL;
	return seat_fill(&t->self, h);
}

/* Gets a record for the seat.  Until there is a record, the caller builds as a stranger (building.h). */
static struct owner *fill(struct seat_entry *t, struct heap *h)
{
	struct store *s = store_shared(h);
	struct building b;
	struct owner *o;

	if (load_relaxed(&t->self) != NULL)
		return NULL;
	/* Without a valid life the death of the thread would never be noticed, or would be noticed too early. */
	if (s != NULL && lives_process(h) == 0)
		return NULL;
	if (s != NULL)
		renew_check(s);
	b = building_begin(h, NULL);
	o = seat_fill(&t->self, h);
	if (o == NULL)
		o = fill_after_reaping(t, h);
	if (o != NULL && s != NULL)
		/* Relaxed, because census_is_held of other threads reads the word at any time. */
		store_relaxed(&truth_of(o)->census, census_join(s));
	building_end(b);
	return o;
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

	if (store_shared(h) != NULL)
		intents_settle(o, true);
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

/* Vacates a record that another thread of this process holds and that no call uses. */
static void vacate(struct heap *h, struct owner *o, uint64_t life)
{
	uint64_t state = life << OWNER_THREAD | OWNER_HELD;
	struct takeover t = takeover_begin();
	struct building b;

	/* A call was never finished: the thread ended in the call, or jumped out of the call. */
	if ((load_relaxed(&o->building) & 1) != 0 || load_relaxed(&truth_of(o)->flight) != 0) {
		b = building_begin(h, NULL); /* see intents_settle */
		if (takeover_add(&t, o, state))
			(void)takeover_end(&t);
		building_end(b);
		return;
	}
	/* Another thread may have seen the holder end, and have taken the record over. */
	if (!cas_acquire(&o->state, &state, holder_guest(h)))
		return;
	record_rest(h, o);
	record_vacate(h, o);
}

/* Returns whether the address lies in the heap's owner records. */
static bool is_record(struct heap *h, const struct owner *o)
{
	const struct store *s = store_of(h);

	return ((uintptr_t)o - (uintptr_t)s->records) / RECORD_BYTES < STORE_RECORDS;
}

void seats_close(struct heap *h)
{
	unsigned kind = seats_kind(h);
	struct seat_entry *e;
	struct bench *b;

	for (b = benches_first(kind); b != NULL; b = b->next) {
		struct seat_page *page = load_acquire(&b->page);
		uint64_t id = h->id, closing = ID_CLOSING, life, left;
		struct owner *o;

		/* An inherited page has the parent's seats.  The page is wiped, or about to be wiped. */
		if (page == NULL || (kind == SEATS_SHARED && process_has_forked(&page->mark)))
			continue;
		life = load_relaxed(&page->life);
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
		if (kind == SEATS_SHARED && o != NULL && o != SEAT_BUSY && life != 0 &&
		    is_record(h, o))
			vacate(h, o, life);
	}
}

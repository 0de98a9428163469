/* SPDX-License-Identifier: MIT */
#include "shm/seats_close.h"

#include "process.h"
#include "shm/benches.h"
#include "shm/building.h"
#include "shm/record_leave.h"
#include "shm/store.h"
#include "thread/collect.h"
#include "thread/holder.h"
#include "thread/seat.h"
#include "thread/shrink.h"
#include "thread/takeover.h"

/* Vacates a record that another thread of this process holds, which is in no call. */
static void vacate(struct heap *h, struct owner *o, uint64_t life)
{
	uint64_t state = life << OWNER_THREAD | OWNER_HELD;
	struct takeover t = takeover_begin();
	struct building b;

	/* A call was never finished: its thread ended in it, or jumped out of it. */
	if ((load_relaxed(&o->building) & 1) != 0 || load_relaxed(&o->flight) != 0) {
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

/* True: the address lies in the heap's owner records. */
static bool is_record(struct heap *h, const struct owner *o)
{
	const struct store *s = store_of(h);

	return ((uintptr_t)o - (uintptr_t)s->records) / OWNER_BYTES < STORE_RECORDS;
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

		/* An inherited page has the parent's seats; it is wiped, or about to be. */
		if (page == NULL || (kind == SEATS_SHARED && process_has_forked(&page->mark)))
			continue;
		life = load_relaxed(&page->life);
		e = bench_find(b, id);
		/*
		 * Compare-and-swaps, as the thread may end now.  Their orders pair with part_clear
		 * and part_claim.  What the thread wrote into the entry is visible not by this word,
		 * but because the program knows that the thread no longer uses the heap.
		 */
		if (e == NULL || !cas_acq_rel(&e->id, &id, ID_CLOSING))
			continue;
		/*
		 * An unused entry must have no record, as 0 is the id of arenas.  A
		 * compare-and-swap, as the thread may end at this moment and its bench be
		 * taken by another one.
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

/* SPDX-License-Identifier: MIT */
/* A heap leaves the process, and the seats of all its threads with it. */
#include "shm/benches.h"
#include "shm/building.h"
#include "thread/holder.h"
#include "process.h"
#include "thread/takeover.h"
#include "thread/collect.h"
#include "thread/seat.h"
#include "thread/shrink.h"

/* A record that another thread of this process held, which was not in a call. */
static void vacate(struct heap *h, struct owner *o, uint64_t life)
{
	uint64_t state = life << OWNER_THREAD | OWNER_HELD;
	struct takeover t = takeover_begin(h);
	struct building b;

	/* In a call it was, as its thread ended there, or jumped out of it. */
	if ((load_relaxed(&o->building) & 1) != 0 || load_relaxed(&o->flight) != 0) {
		if (takeover_add(&t, o, state))
			(void)takeover_end(&t);
		return;
	}
	/* Others may have seen its thread end, and have it by now. */
	if (!cas_acquire(&o->state, &state, holder_guest(h)))
		return;
	b = building_begin(h, o);
	owner_rest(o);
	building_end(b);
	owner_vacate(o);
	b = building_begin(h, NULL);
	owner_visit(o);
	building_end(b);
}

/* True: the address is that of one of the heap's records. */
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

		/* Inherited ones are their parents', and wiped or about to be. */
		if (page == NULL || (kind == SEATS_SHARED && process_has_forked(&page->mark)))
			continue;
		life = load_relaxed(&page->life);
		e = bench_find(b, id);
		if (e == NULL || !cas_acq_rel(&e->id, &id, ID_CLOSING))
			continue;
		/*
		 * An empty entry has no record: 0 is the id of arenas.  By a swap, as the
		 * thread may end just now and its bench be another one's.
		 */
		o = load_relaxed(&e->self);
		left = (uint64_t)(uintptr_t)o;
		(void)cas_acq_rel((uint64_t *)(void *)&e->self, &left, 0);
		(void)cas_acq_rel(&e->id, &closing, 0);
		if (kind == SEATS_SHARED && o != NULL && o != SEAT_BUSY && life != 0 && is_record(h, o))
			vacate(h, o, life);
	}
}

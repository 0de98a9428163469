/* SPDX-License-Identifier: MIT */
/* The records of threads in a heap shared by processes: who gets a record, and how a record is left. */
#include "store/allocator.h"
#include "store/calls/hooks.h"
#include "store/file/open.h"
#include "store/recover/block_tags.h"
#include "store/recover/census.h"
#include "store/recover/recover.h"

/*
 * All records are in use, some perhaps by threads that have died.  The kernel is asked only now and then, because in
 * a heap of more threads than records each call comes here.
 */
static struct owner *fill_after_reaping(struct seat_entry *t, struct heap *h)
{
	enum { NOW_AND_THEN = 1024 };

	if (load_relaxed(&t->self) != NULL || fetch_add_relaxed(&store_of(h)->refused, 1) % NOW_AND_THEN != 0 ||
	    reap_all(h, NULL) == 0)
		return NULL;
	return seat_fill(&t->self, h);
}

/* Until there is a record, the caller builds as a stranger (builders.h). */
struct owner *hooks_seat_fill(struct heap *h, struct seat_entry *t)
{
	struct store *s = store_of(h);
	struct building b;
	struct owner *o;

	/* Without a valid life the death of the thread would never be noticed, or would be noticed too early. */
	if (lives_process(h) == 0)
		return NULL;
	renew_check(s);
	b = building_begin(h, NULL);
	o = seat_fill(&t->self, h);
	if (o == NULL)
		o = fill_after_reaping(t, h);
	if (o != NULL)
		/* Relaxed, because census_is_held of other threads reads the word at any time. */
		store_relaxed(&truth_of(o)->census, census_join(s));
	building_end(b);
	return o;
}

void hooks_rests(struct owner *o)
{
	intents_settle(o, true);
}

/* Vacates a record that another thread of this process holds and that no call uses. */
static void vacate(struct heap *h, struct owner *o, uint64_t life)
{
	uint64_t state = life << OWNER_THREAD | OWNER_HELD;
	struct takeover t = takeover_begin();
	struct building b;

	/* A call was never finished: the thread ended in the call, or jumped out of the call. */
	if ((load_relaxed(&o->building) & LISTS_CHANGING) != 0 || load_relaxed(&truth_of(o)->flight) != 0) {
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

void hooks_seat_closed(struct heap *h, struct owner *o, uint64_t life)
{
	if (life != 0 && is_record(h, o))
		vacate(h, o, life);
}

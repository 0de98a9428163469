/* SPDX-License-Identifier: MIT */
#include "shm/recover.h"

#include "backend/map.h"
#include "front/remote.h"
#include "front/slot.h"
#include "shm/benches.h"
#include "shm/building.h"
#include "shm/census.h"
#include "shm/intent_settle.h"
#include "shm/lives.h"
#include "shm/lost_memory.h"
#include "slab/unowned.h"
#include "thread/holder.h"
#include "thread/reap.h"
#include "thread/shrink.h"
#include "thread/visit.h"

uint64_t recover_holder(struct heap *h)
{
	return lives_thread(h) << OWNER_THREAD | OWNER_HELD;
}

bool recover_is_dead(struct heap *h, uint64_t holder)
{
	return lives_thread_is_over(store_of(h), holder >> OWNER_THREAD);
}

/* Releases the slot in flight, whose address no other thread has. */
static void land(struct owner *v, void *p, bool whole)
{
	struct chunk *c = map_find(p);
	struct owner *vacant;
	struct slot_ref at;

	if (c == NULL || !slot_find(c, p, &at) || !slot_is_taken(&at))
		return;
	if (owner_has(v, at.slab)) {
		own_slot_free(v, &at, whole);
		return;
	}
	/*
	 * The slab has another owner: then the slot was being released, and its tag says so.  If
	 * it was released and is another block by now, the tag is that of another thread.
	 */
	if (load_relaxed(census_tag(at.slab, at.index)) != census_leaving(v) ||
	    (load_relaxed(&at.slab->owner) & OWNER_UNOWNED) != 0)
		return;
	(void)remote_free(&at, &vacant);
	if (vacant != NULL)
		visit_slab(vacant, at.slab);
}

void recover_settle(struct owner *v)
{
	/* A thread that was not building leaves its bins and lists right: see owner_begin. */
	bool whole = (load_relaxed(&v->building) & 1) == 0;

	/*
	 * Each step may be repeated, as the caller may die here as well: then v was a guest's, and
	 * is not whole any more.
	 */
	if (v->flight != 0)
		land(v, (void *)v->flight, whole); /* NOLINT: an address */
	v->flight = 0;
	intents_settle(v, whole);
	if (whole)
		shrink_owner(v); /* a vacant record has no bins, and what is empty is for all */
	else
		/* Release pairs with lost_memory_return: what the holder wrote is seen there. */
		fetch_add_acq_rel(&store_of(v->heap)->lost, 1);
}

size_t heap_recover(struct heap *h, struct owner *o)
{
	struct building b = building_begin(h, o);
	size_t records = reap_all(h, o);
	struct store *s;

	building_end(b);
	benches_reap();
	if (h->sharing == PAGES_SHARED) {
		s = store_of(h);
		strangers_bury(s);
		if (load_acquire(&s->lost) != 0)
			lost_memory_return(s);
	}
	b = building_begin(h, o);
	if (unowned_exist(h))
		(void)unowned_shrink(h);
	building_end(b);
	return records;
}

/* SPDX-License-Identifier: MIT */
#include "shm/recover.h"

#include "shm/building.h"
#include "shm/census.h"
#include "thread/holder.h"
#include "shm/lost.h"
#include "backend/map.h"
#include "thread/reap.h"
#include "front/release.h"
#include "shm/seats.h"
#include "slab/unowned.h"
#include "world.h"
#include "thread/collect.h"

uint64_t recover_holder(struct heap *h)
{
	return seats_life(h) << OWNER_THREAD | OWNER_HELD;
}

bool recover_is_dead(struct heap *h, uint64_t holder)
{
	return recover_thread_is_over(store_of(h), holder >> OWNER_THREAD);
}

/* Asked only when something is said to be dead, which is rare, and never remembered. */
bool recover_thread_is_over(const struct store *s, uint64_t life)
{
	return life_thread_is_over(life) && world_is(s->world, world_now());
}

bool recover_process_is_over(const struct store *s, uint64_t life)
{
	return life_process_is_over(life) && world_is(s->world, world_now());
}

/* The slot in flight: nobody else knows of it, so it is released. */
static void land(struct owner *v, void *p)
{
	struct chunk *c = map_find(p);
	struct owner *vacant;
	struct slot_ref at;

	if (c == NULL || !slot_find(c, p, &at) || !slot_is_taken(&at))
		return;
	if (owner_has(v, at.slab)) {
		/* Its words are ours to write now; their hints are made anew. */
		store_relaxed(&at.slab->free[at.group],
			      load_relaxed(&at.slab->free[at.group]) | at.bit);
		return;
	}
	/* Only a release can have got so far that others own the slab. */
	if (load_relaxed(census_tag(at.slab, at.index)) != (v->census | TAG_LEAVING) ||
	    (load_relaxed(&at.slab->owner) & OWNER_UNOWNED) != 0)
		return;
	(void)remote_free(&at, &vacant);
	if (vacant != NULL)
		owner_visit(vacant);
}

void recover_settle(struct owner *v)
{
	/* Each step can be done twice: we may die here, too. */
	if (v->flight != 0)
		land(v, (void *)v->flight); /* NOLINT: an address */
	v->flight = 0;
	if ((load_relaxed(&v->building) & 1) != 0) {
		fetch_add_acq_rel(&store_of(v->heap)->lost, 1);
		fetch_add_acq_rel(&v->building, 1);
	}
}

size_t heap_recover(struct heap *h, struct owner *o)
{
	struct building b = building_begin(h, o);
	size_t records = owner_reap(h, o);
	struct store *s;

	building_end(b);
	seats_reap();
	if (h->sharing == PAGES_SHARED) {
		s = store_of(h);
		strangers_bury(s);
		if (load_acquire(&s->lost) != 0)
			lost_look(s);
	}
	b = building_begin(h, o);
	(void)unowned_shrink(h);
	building_end(b);
	return records;
}

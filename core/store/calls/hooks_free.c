/* SPDX-License-Identifier: MIT */
/* Releases that are no fast path, in heaps shared by processes. */
#include "store/allocator.h"
#include "store/calls/hooks.h"
#include "store/recover/block_tags.h"
#include "store/recover/builders.h"
#include "store/recover/census.h"
#include "store/recover/holds.h"

/*
 * Releases a slot of another owner's slab, for the thread with the record `self`; o is the record, too, if it is checked
 * out.  Returns false if the slot is free.
 */
static bool free_remote(struct heap *h, struct owner *o, struct owner *self, const struct slot_ref *at, bool drafted)
{
	struct store *s = store_of(h);
	struct owner *vacant;

	if (!slot_is_taken(at))
		return false;
	if (self == NULL)
		seal_touch(s);
	/* The slot is not in flight: if a thread dies before the release, its process keeps the block. */
	if (!drafted)
		store_release(census_tag(at->slab, at->index), o != NULL ? census_leaving(o) : census_mine(s, self));
	if (!remote_free(at, &vacant))
		return false;
	if (unlikely(vacant != NULL))
		instance_visit(h, self, vacant, at->slab);
	return true;
}

static bool free_unowned(struct heap *h, struct owner *self, const struct slot_ref *at)
{
	struct building b;
	bool done;

	if (!slot_is_taken(at))
		return false;
	/*
	 * A slot without a tag is in flight.  That is allowed only while the caller builds and holds the slot;
	 * otherwise the slot would count as lost.
	 */
	b = building_begin(h, self);
	holds_note(h, hold_slot(at->slab, at->index), true);
	store_release(census_tag(at->slab, at->index), TAG_NONE);
	done = unowned_free(at->slab, at->index);
	building_end(b);
	return done;
}

static bool free_any(struct heap *h, struct owner *o, struct owner *self, struct chunk *c, void *p, bool drafted)
{
	struct slot_ref at;

	if (!slot_find(c, p, &at))
		return instance_free_span(h, self, c, p);
	if (o != NULL && owner_has(o, at.slab))
		return instance_free_own(h, o, at.slab, at.index);
	if ((load_relaxed(&at.slab->owner) & OWNER_UNOWNED) != 0)
		return free_unowned(h, self, &at);
	return free_remote(h, o, self, &at, drafted);
}

/* A block that a draft names is not noted, too. */
bool hooks_free_block(struct heap *h, struct owner *o, struct owner *self, struct chunk *c, void *p, bool drafted)
{
	bool done;

	if (o == NULL || drafted)
		return free_any(h, o, self, c, p, drafted);
	flight_set(o, p);
	done = free_any(h, o, self, c, p, false);
	flight_set(o, NULL);
	return done;
}

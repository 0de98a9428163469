/* SPDX-License-Identifier: MIT */
#include "store/calls/hooks.h"

#include "store/allocator.h"
#include "store/calls/draft.h"
#include "store/recover/block_tags.h"
#include "store/recover/builders.h"
#include "store/recover/census.h"
#include "store/recover/holds.h"
#include "store/recover/intent.h"
#include "store/recover/recover.h"

static void tags_clear(struct slab *s)
{
	/*
	 * In a file on a tmpfs, reading a page also allocates the page.  So the page is read here, and a full disk
	 * cannot end the thread that takes the slab over later.
	 */
	(void)*(volatile uint64_t *)s->remote;
	/* Memory that had no slab has no bits, except in a file that was changed. */
	for (uint64_t g = 0; g < s->groups; g++)
		if (unlikely(load_relaxed(&s->remote[g]) != 0))
			store_relaxed(&s->remote[g], (uint64_t)0);
	/* Atomic, because walks and views may read the tags of the slab that was here before. */
	for (uint64_t i = 0; i < s->slots; i++)
		store_relaxed(census_tag(s, i), TAG_NONE);
}

static bool is_quiet(struct heap *h)
{
	return building_quiet(store_of(h));
}

/* In a sealed file, taking a record would break the seal. */
static bool is_sealed(struct heap *h)
{
	return seal_state(load_acquire(&store_of(h)->seal)) == SEAL_WHOLE; /* pairs with seal_close */
}

static uint64_t owner_at(const struct block_place *at)
{
	return block_owner(at->chunk, at->slab, at->index);
}

static int walk_all(struct heap *h, int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context)
{
	return block_walk(h, true, see, context);
}

static uint64_t root(struct heap *h)
{
	return intent_read(h, &h->root);
}

static void root_changes(struct heap *h)
{
	seal_touch(store_of(h));
}

static void leave(struct heap *h)
{
	struct store *s = store_of(h);

	arenas_gone(s, s->bytes);
	seats_close(h);
	store_leave(s);
}

INTERNAL const struct shared_hooks store_hooks = {
	.run_made = run_made,
	.slab_made = tags_clear,
	.owner_memory = store_owner,
	.owner_made = store_owner_made,
	.owner_after = store_owner_after,
	.holder = recover_holder,
	.is_dead = recover_is_dead,
	.settle = recover_settle,
	.hold = holds_note,
	.building_begin = builders_begin,
	.building_end = builders_end,
	.is_quiet = is_quiet,
	.seat_fill = hooks_seat_fill,
	.rests = hooks_rests,
	.seat_closed = hooks_seat_closed,
	.is_busy = intents_busy,
	.is_at_rest = is_sealed,
	.alloc = hooks_alloc,
	.slot_take = hooks_slot_take,
	.taking = hooks_taking,
	.taken = hooks_taken,
	.release_own = hooks_release_own,
	.release = hooks_release,
	.releasing = hooks_releasing,
	.free_unowned = hooks_free_unowned,
	.free_remote = hooks_free_remote,
	.carry = draft_carry,
	.block_owner = owner_at,
	.walk = walk_all,
	.search = recover_search,
	.extend = hooks_extend,
	.release_owner = hooks_release_owner,
	.root = root,
	.root_changes = root_changes,
	.leave = leave,
};

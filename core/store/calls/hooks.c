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

static uint64_t root_of(struct heap *h)
{
	return intent_read(h, &h->root);
}

static void set_root(struct heap *h, uint64_t root)
{
	seal_touch(store_of(h));
	store_release(&h->root, root); /* pairs with intent_read: the object of the root is complete */
}

static void recover(struct heap *h)
{
	(void)ash_heap_recover(heap_public(h));
}

static void leave(struct heap *h)
{
	struct store *s = store_of(h);

	ash_heap_thread_detach(heap_public(h));
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
	.is_quiet = is_quiet,
	.block_owner = owner_at,
};

INTERNAL const struct instance_kind instance_shared = {
	.alloc = hooks_alloc,
	.release = hooks_release,
	.alloc_as = instance_alloc,
	.resize = instance_resize,
	.expand = instance_expand,
	.bytes = instance_bytes,
	.good_size = instance_good_size,
	.walk = walk_all,
	.extend = hooks_extend,
	.release_owner = hooks_release_owner,
	.root = root_of,
	.set_root = set_root,
	.leave = leave,
	.seat_closed = hooks_seat_closed,
	.building_begin = builders_begin,
	.building_end = builders_end,
	.seat_fill = hooks_seat_fill,
	.rests = hooks_rests,
	.is_busy = intents_busy,
	.is_at_rest = is_sealed,
	.recover = recover,
	.search = recover_search,
	.slot_take = hooks_slot_take,
	.taking = hooks_taking,
	.taken = hooks_taken,
	.release_own = hooks_release_own,
	.free_block = hooks_free_block,
	.carry = draft_carry,
};

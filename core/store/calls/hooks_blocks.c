/* SPDX-License-Identifier: MIT */
/* Blocks of a heap shared by processes: what is stored beside the bits, because the thread may be killed at any point. */
#include "store/allocator.h"
#include "store/calls/hooks.h"
#include "store/recover/block_tags.h"
#include "store/recover/builders.h"
#include "store/recover/census.h"
#include "store/recover/holds.h"
#include "store/recover/intent.h"

static ALWAYS_INLINE void *take(struct owner *o, struct bin *b, bool *clean, struct intent *draft)
{
	struct slab *s = bin_slab(o, b);
	uint64_t word, index, g;
	uint16_t *tag;
	char *p;

	if (unlikely(s->ready == 0))
		return NULL;
	g = cpu_lowest_bit(s->ready);
	word = slab_ready_word(s, g);
	if (unlikely(word == 0))
		return NULL;
	*clean = !s->dirty;
	index = cpu_lowest_bit(word);
	tag = census_tag(s, g * GROUP_SLOTS + index);
	p = s->base + (g * GROUP_SLOTS + index) * s->slot_size;
	/*
	 * The stores are in this order, because the thread may be killed at any point (recover.h): first the slot is
	 * recorded as in flight, then its tag is set, then the slot is taken.  When the slot is no longer in flight,
	 * nothing is left to undo.  A draft is never in flight: until it is published, it has the tag of its intent.
	 */
	if (draft != NULL) {
		store_release(&draft->fresh, (uint64_t)(uintptr_t)p);
		store_release(tag, intent_tag(store_of(o->heap), draft));
		signal_fence();
		return slab_take_slot(s, g, word, index);
	}
	store_release(&truth_of(o)->flight, (uint64_t)(uintptr_t)p);
	store_release(tag, (uint16_t)truth_of(o)->census);
	signal_fence();
	(void)slab_take_slot(s, g, word, index);
	store_release(&truth_of(o)->flight, 0);
	return p;
}

void *hooks_slot_take(struct owner *o, struct bin *b, bool *clean, void *draft)
{
	return take(o, b, clean, draft);
}

FAST void *hooks_alloc(struct heap *h, size_t size)
{
	struct seat_entry *t;
	struct owner *o;
	bool clean;
	void *p;

	if (unlikely(size > SLOT_SMALL) || unlikely((o = seats_guess(h, &t)) == NULL))
		return instance_alloc_slow(h, size);
	p = take(o, bin_small(o, class_small[(size + 7) / 8]), &clean, NULL);
	seats_give(t, o);
	return likely(p != NULL) ? p : instance_alloc_slow(h, size);
}

/* Returns the tag of a block that `take` does not take; a draft gets the tag of its intent. */
uint64_t hooks_taking(struct heap *h, struct owner *self, const void *draft)
{
	return draft != NULL ? intent_tag(store_of(h), draft) : census_mine(store_of(h), self);
}

void hooks_taken(void *p, uint64_t tag, void *draft)
{
	struct intent *i = draft;
	struct chunk *c = map_find(p);
	struct slot_ref at;

	if (i != NULL)
		store_release(&i->fresh, (uint64_t)(uintptr_t)p);
	if (slot_find(c, p, &at))
		/* Pairs with lost_slots: a slot with a tag is not in flight. */
		store_release(census_tag(at.slab, at.index), (uint16_t)tag);
	else
		/* Pairs with examine_chunk: a span without a tag was not handed out. */
		store_release(&c->clean, tag);
}

/* The body of hooks_free_remote, see backend/shared.h. */
static ALWAYS_INLINE bool free_to_owner(struct heap *h, struct owner *o, struct owner *self, const struct slot_ref *at, bool drafted)
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

bool hooks_free_remote(struct heap *h, struct owner *o, struct owner *self, const struct slot_ref *at, bool drafted)
{
	return free_to_owner(h, o, self, at, drafted);
}

/*
 * Releases a slot of a slab that has an owner, the caller's or another's, and checks the record in.  Returns false, and
 * has done nothing else, if p is another block or none, or if there may be a heap in it.  A slot that is free is misuse
 * by `call`: a second look for it could find the next block there.
 */
static ALWAYS_INLINE bool release_found(struct heap *h, struct seat_entry *t, struct owner *o, struct slab *s, void *p,
					const char *call)
{
	struct slot_ref at;
	bool done;

	if (unlikely(!slot_find_in(s, p, &at)) || unlikely(load_relaxed(&s->owner) <= OWNER_FLAGS) ||
	    unlikely(slab_heap(s) != h) || unlikely(load_relaxed(&arenas_used) != 0)) {
		seats_give(t, o);
		return false;
	}
	store_release(&truth_of(o)->flight, (uint64_t)(uintptr_t)p);
	done = owner_has(o, s) ? instance_free_own(h, o, at) : free_to_owner(h, o, o, &at, false);
	store_release(&truth_of(o)->flight, 0);
	seats_give(t, o);
	if (unlikely(!done))
		diagnose(call, p);
	return true;
}

/* Releases a slot of the caller's own slab, and checks the record in.  Returns false if nothing was done. */
static ALWAYS_INLINE bool release_own_slot(struct seat_entry *t, struct owner *o, struct slab *s, void *p)
{
	struct own_words at;

	if (unlikely(!instance_own_slot(o, s, p, &at)))
		return false;
	/* The order matters: a thread that takes the record over completes the release. */
	store_release(&truth_of(o)->flight, (uint64_t)(uintptr_t)p);
	slab_free(s, at.ready, at.group, at.word);
	store_release(&truth_of(o)->flight, 0);
	seats_give(t, o);
	return true;
}

bool hooks_release_own(struct heap *h, struct chunk *c, void *p)
{
	struct slab *s = slab_record(c, p);
	struct seat_entry *t;
	struct owner *o = seats_guess(h, &t);

	return o != NULL && (release_own_slot(t, o, s, p) || release_found(h, t, o, s, p, CALL_RELEASE));
}

/* The rest of hooks_release, a function of its own so that the former saves no register. */
static __attribute__((noinline)) void release_other_slot(struct heap *h, void *p, struct slab *s, struct seat_entry *t,
							 struct owner *o)
{
	if (unlikely(!release_found(h, t, o, s, p, CALL_HEAP_RELEASE)))
		instance_release_slow(heap_public(h), p);
}

FAST void hooks_release(struct heap *h, void *p)
{
	/* The hint may name any chunk: p is compared with a slab in it. */
	struct chunk *c = map_guess(p);
	struct seat_entry *t;
	struct owner *o;
	struct slab *s;

	if (unlikely(c == NULL) || unlikely((o = seats_guess(h, &t)) == NULL)) {
		instance_release_slow(heap_public(h), p);
		return;
	}
	s = slab_record(c, p);
	if (unlikely(!release_own_slot(t, o, s, p)))
		release_other_slot(h, p, s, t, o);
}

void hooks_releasing(struct owner *o, const void *p)
{
	store_release(&truth_of(o)->flight, (uint64_t)(uintptr_t)p);
}

bool hooks_free_unowned(struct heap *h, struct owner *self, const struct slot_ref *at)
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

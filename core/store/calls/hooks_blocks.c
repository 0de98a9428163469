/* SPDX-License-Identifier: MIT */
/* Blocks of a heap shared by processes: what is stored beside the bits, because the thread may be killed at any point. */
#include "store/allocator.h"
#include "store/calls/hooks.h"
#include "store/recover/block_tags.h"
#include "store/recover/builders.h"
#include "store/recover/census.h"
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
	flight_set(o, p);
	store_release(tag, (uint16_t)truth_of(o)->census);
	signal_fence();
	(void)slab_take_slot(s, g, word, index);
	flight_set(o, NULL);
	if (p == NULL)
		__builtin_unreachable(); /* as in bin_slot */
	return p;
}

void *hooks_slot_take(struct owner *o, struct bin *b, bool *clean, void *draft)
{
	return take(o, b, clean, draft);
}

/* The rest of hooks_alloc, for a bin without a slot, a function of its own for the reason of release_other_slot. */
static __attribute__((noinline)) void *alloc_refilled(struct heap *h, size_t size, struct seat_entry *t, struct owner *o,
						      struct bin *b)
{
	bool clean;
	void *p = instance_refill(h, o, (unsigned)(b - o->bins)) ? take(o, b, &clean, NULL) : NULL;

	seats_give(t, o);
	return likely(p != NULL) ? p : instance_alloc_slow(h, size);
}

FAST void *hooks_alloc(struct heap *h, size_t size)
{
	struct seat_entry *t;
	struct owner *o;
	struct bin *b;
	bool clean;
	void *p;

	if (unlikely(size > SLOT_MAX) || unlikely((o = seats_guess_kind(h, SEATS_SHARED, &t)) == NULL))
		return instance_alloc_slow(h, size);
	b = likely(size <= SLOT_SMALL) ? bin_small(o, class_small[(size + 7) / 8]) : &o->bins[class_larger(size)];
	p = take(o, b, &clean, NULL);
	if (unlikely(p == NULL))
		return alloc_refilled(h, size, t, o, b);
	seats_give(t, o);
	return p;
}

/* Returns the tag of a block that `take` does not take; a draft gets the tag of its intent. */
uint64_t hooks_taking(struct heap *h, struct owner *self, const void *draft)
{
	return draft != NULL ? intent_tag(store_of(h), draft) : census_mine(store_of(h), self);
}

void hooks_taken(void *p, uint64_t tag, void *draft)
{
	struct intent *i = draft;
	struct slot_ref at;
	struct chunk *c;

	if (p == NULL)
		return;
	c = map_find(p);
	if (i != NULL)
		store_release(&i->fresh, (uint64_t)(uintptr_t)p);
	if (slot_find(c, p, &at))
		/* Pairs with lost_slots: a slot with a tag is not in flight. */
		store_release(census_tag(at.slab, at.index), (uint16_t)tag);
	else
		/* Pairs with examine_chunk: a span without a tag was not handed out. */
		store_release(&c->clean, tag);
}

/* ---- releases of slots of slabs that have an owner; each checks the record in ---- */

static ALWAYS_INLINE void flight_ends(struct seat_entry *t, struct owner *o)
{
	flight_set(o, NULL);
	seats_give(t, o);
}

/* Reports that the slot was free. */
static _Noreturn __attribute__((noinline)) void release_twice(struct seat_entry *t, struct owner *o, const void *p,
							      const char *call)
{
	flight_ends(t, o);
	diagnose(call, p);
}

/*
 * Releases a taken slot of the caller's own slab that was full, or may become empty.  The word is read again: to pass it
 * would cost each release 3 instructions.
 */
static __attribute__((noinline)) void release_settling(struct heap *h, void *p, struct slab *s, struct seat_entry *t,
						       struct owner *o, uint64_t index)
{
	uint64_t group = index / GROUP_SLOTS, word = load_relaxed(&s->free[group]);
	struct building b;

	/* There may be a heap in the block. */
	if (unlikely(load_relaxed(&arenas_used) != 0)) {
		seats_give(t, o);
		instance_release_slow(h, p);
		return;
	}
	flight_set(o, p);
	(void)cpu_set_bit(&word, index);
	b = building_begin(h, o);
	settle_freed(o, s, group, word);
	building_end(b);
	flight_ends(t, o);
}

/* Releases a slot of the caller's own slab with the pending bit set.  The slot may be free already. */
static __attribute__((noinline)) void release_beside(struct seat_entry *t, struct owner *o, struct slab *s, void *p,
						     uint64_t index, const char *call)
{
	flight_set(o, p);
	if (unlikely(!instance_free_own(o->heap, o, s, index)))
		release_twice(t, o, p, call);
	flight_ends(t, o);
}

/* The rest of a release into a slab whose owner must be notified (remote_notify). */
static __attribute__((noinline)) void release_notifying(struct seat_entry *t, struct owner *o, struct slab *s,
							uint64_t group)
{
	struct owner *vacant = remote_notify(s, group);

	if (unlikely(vacant != NULL))
		instance_visit(o->heap, o, vacant, s);
	flight_ends(t, o);
}

/*
 * Releases a slot of a slab that has an owner, the caller's or another's.  Returns false, and has only checked the record
 * in, if p is another block or none, or if there may be a heap in it.  A slot that is free is misuse by `call`: a second
 * look for it could find the next block there.
 */
static ALWAYS_INLINE bool release_owned(struct heap *h, struct seat_entry *t, struct owner *o, struct slab *s, void *p,
					const char *call)
{
	uint64_t owner = load_relaxed(&s->owner);
	uint64_t index;

	if (unlikely(owner <= OWNER_FLAGS) || unlikely(!slab_index(s, p, &index)) || unlikely(slab_heap(s) != h) ||
	    unlikely(load_relaxed(&arenas_used) != 0)) {
		seats_give(t, o);
		return false;
	}
	if (unlikely((owner & ~OWNER_PENDING) == (uint64_t)(uintptr_t)o)) {
		release_beside(t, o, s, p, index, call);
		return true;
	}
	flight_set(o, p);
	/* As remote_set, with the tag in between, for the reason in free_remote of hooks_free.c. */
	if (unlikely(remote_is_free(s, index)))
		release_twice(t, o, p, call);
	store_release(census_tag(s, index), census_leaving(o));
	if (unlikely(set_bit_seq_cst(s->remote, index)))
		release_twice(t, o, p, call);
	if (unlikely(!remote_is_notified(s, owner)))
		release_notifying(t, o, s, index / GROUP_SLOTS);
	else
		flight_ends(t, o);
	return true;
}

/* Releases a slot of the caller's own slab.  Returns false if nothing was done. */
static ALWAYS_INLINE bool release_own_slot(struct heap *h, struct seat_entry *t, struct owner *o, struct slab *s, void *p)
{
	struct own_words at;

	if (unlikely(!instance_own_slot(o, s, p, &at)))
		return false;
	if (unlikely(slab_has_event(s, at.ready, at.word))) {
		release_settling(h, p, s, t, o, at.index);
		return true;
	}
	/* The order matters: a thread that takes the record over completes the release. */
	flight_set(o, p);
	slab_free(s, at.ready, at.index / GROUP_SLOTS, at.word);
	flight_ends(t, o);
	return true;
}

bool hooks_release_own(struct heap *h, struct chunk *c, void *p)
{
	struct slab *s = slab_record(c, p);
	struct seat_entry *t;
	struct owner *o = seats_guess_kind(h, SEATS_SHARED, &t);

	return o != NULL && (release_own_slot(h, t, o, s, p) || release_owned(h, t, o, s, p, CALL_RELEASE));
}

/* The rest of hooks_release, a function of its own so that the former saves no register. */
static __attribute__((noinline)) void release_other_slot(struct heap *h, void *p, struct slab *s, struct seat_entry *t,
							 struct owner *o)
{
	if (unlikely(!release_owned(h, t, o, s, p, CALL_HEAP_RELEASE)))
		instance_release_slow(h, p);
}

FAST void hooks_release(struct heap *h, void *p)
{
	/* The hint may name any chunk: p is compared with a slab in it. */
	struct chunk *c = map_guess(p);
	struct seat_entry *t;
	struct owner *o;
	struct slab *s;

	if (unlikely(c == NULL) || unlikely((o = seats_guess_kind(h, SEATS_SHARED, &t)) == NULL)) {
		instance_release_slow(h, p);
		return;
	}
	s = slab_record(c, p);
	if (unlikely(!release_own_slot(h, t, o, s, p)))
		release_other_slot(h, p, s, t, o);
}

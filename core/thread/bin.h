/* SPDX-License-Identifier: MIT */
/*
 * Bins.  A bin has the current slab of a class, from which slots are taken, and a list of other slabs.
 *
 *   partial list --bin_take--> current --bin_detach--> partial list, or no list if the slab is full
 *
 * An allocation takes the lowest free slot of the lowest group that has a free slot.  So memory of a slab is first
 * touched when all slots below it are taken.
 *
 * Unless a comment says otherwise, only the holder of the record calls these functions.
 */
#ifndef CORE_BIN_H
#define CORE_BIN_H

#include "base/variant.h"
#include "internal.h"
#include "thread/owner.h"

/*
 * Counts a slow operation of the holder on the heap's clock (backend/retain.h).  All threads of the heap share the
 * clock, so a record tells the clock of every 16th operation only: otherwise the clock's cache line would move between
 * the cores with each operation.  The heap's first record (its `next` is NULL) then counts 16, the others count 1.
 * While memory is due, each operation of the first record purges a part.
 *
 * The fast paths do not count.  Therefore the record is watched while the clock runs: no slab stays current, and each
 * allocation takes a slow path.  That allocation counts if a fast path released a slot since the last allocation.  So
 * the clock advances whatever the program does, and a program that allocates without releasing is not counted.  A
 * thread notices that the clock runs when it counts.
 */
INTERNAL void owner_count(struct owner *o);
/*
 * Detaches the bin after an allocation from a watched record, and counts on the clock if a fast path released a slot
 * before.
 */
INTERNAL void bin_watched(struct owner *o, unsigned class);

/* Counts like owner_count, for any thread that released a span of the default heap or made the span smaller. */
INTERNAL void heap_count(void);

/*
 * Returns the free word of a ready group of the current slab.  The word is 0 if a holder vanished before it cleared the
 * group's ready bit; then clears this bit.
 */
static ALWAYS_INLINE uint64_t slab_ready_word(struct slab *s, uint64_t g)
{
	uint64_t word = load_relaxed(&s->free[g]);

	if (unlikely(word == 0))
		slab_unready(s, g);
	return word;
}

/* Takes the slot `bit` of group g, which has the free word `word`, of the current slab. */
static ALWAYS_INLINE char *slab_take_slot(struct slab *s, uint64_t g, uint64_t word, uint64_t bit)
{
	uint64_t rest = word & ~((uint64_t)1 << bit);

	/* The order of these stores matters, see layout.h. */
	store_relaxed(&s->free[g], rest);
	signal_fence();
	if (rest == 0)
		slab_unready(s, g);
	return s->base + (g * GROUP_SLOTS + bit) * s->slot_size;
}

/*
 * Takes a slot of the bin's current slab.  Returns NULL if that slab has no free slot: then refill_bin finds another
 * slab.  Sets *clean as refill_slot does.
 */
static ALWAYS_INLINE void *bin_slot(struct owner *o, const struct bin *b, bool *clean)
{
	struct slab *s = bin_slab(o, b);
	uint64_t word, bit, g;
	char *p;

	if (unlikely(s->ready == 0))
		return NULL;
	g = group_choose(o, s->ready);
	word = slab_ready_word(s, g);
	if (unlikely(word == 0))
		return NULL;
	*clean = !s->dirty;
	bit = slot_choose(o, word);
	p = slab_take_slot(s, g, word, bit);
	if (p == NULL)
		__builtin_unreachable(); /* spares inlined callers a second test for NULL */
	return p;
}

/*
 * The short way of refill_bin: makes the first slab of the partial list current.  Returns false if this is not
 * possible, or if the operation must be counted on the clock.
 */
INTERNAL __attribute__((noinline)) bool bin_next(struct owner *o, struct bin *b);

/*
 * Takes a slot of the first slab of the partial list that is no spare, for a watched record; the slab stays on the
 * list while it has a free slot.  Returns NULL if there is no such slab.  Sets *clean as refill_slot does.
 */
INTERNAL void *bin_pass(struct owner *o, unsigned class, bool *clean);

/* Makes a slab current that is on no list and for which slab_take returned true. */
INTERNAL void bin_take(struct owner *o, unsigned class, struct slab *s);

/*
 * Returns whether the slab does not react to becoming empty while it is current: slabs of small classes do not, unless
 * the heap has many records.
 */
static inline bool bin_ignores_empty(const struct owner *o, const struct slab *s)
{
	return s->slot_size <= SPARE_FREE && !is_crowd(o->heap);
}

/* Sets whether releases notice that the current slab s becomes empty. */
static ALWAYS_INLINE void bin_arm(const struct owner *o, struct slab *s)
{
	if (bin_ignores_empty(o, s) || s->spare)
		s->all_free = 0;
	else if (s->all_free == 0) /* a spare that became full */
		(void)slab_arm(s);
}

/* Prepares a slab that the caller holds for allocations: its pages are no longer all purged. */
static ALWAYS_INLINE void slab_resumes(const struct owner *o, struct slab *s)
{
	store_relaxed(&s->purged, (uint8_t)0);
	if (unlikely(load_relaxed(&s->hollow) != 0)) {
		store_relaxed(&s->hollow, (uint16_t)0);
		heap_again(o->heap, s->units);
	}
}

/*
 * Makes s the current slab of its bin.  The slab s was full and is on no list.  Returns true if the bin's current slab
 * is full, too, and another slab than s.  Returns false, and changes nothing, if that slab is a spare, if another thread
 * holds s, or if s must be armed.  Then the caller puts s on the partial list.  slab_resumes is not needed,
 * because a slab whose slots are all taken is neither purged nor hollow.
 */
static ALWAYS_INLINE bool bin_swap(struct owner *o, struct slab *s)
{
	struct bin *b = &o->bins[s->class];
	struct slab *full = bin_slab(o, b);
	uint64_t idle = SLAB_IDLE;
	bool ignores;

	if (slab_is_ready(full) || full == s || b->slab == 0 || full->spare)
		return false;
	ignores = bin_ignores_empty(o, s);
	if (!ignores && s->all_free == 0)
		return false;
	/* Acquire pairs with slab_let_go, as in slab_take. */
	if (!cas_acquire(&s->hold, &idle, SLAB_IN_USE))
		return false;
	slab_let_go(full); /* a full slab is on no list */
	b->slab = (uintptr_t)s - (uintptr_t)o;
	if (ignores)
		s->all_free = 0;
	return true;
}

/*
 * Moves the current slab, if there is one, to the partial list, or to no list if the slab is full.  A full slab is no
 * spare.
 */
INTERNAL void bin_detach(struct owner *o, unsigned class);

/*
 * Tells the hand that a slab of `units` units was taken from the partial list.  hand_opened (settle.h) may have
 * counted them.
 */
static inline void hand_closed(struct owner *o, unsigned units)
{
	o->opened = (uint8_t)(o->opened > units ? o->opened - units : 0);
}

/*
 * Removes the slab from the spares: empty slabs that the record caches (owner.spares, slab.spare).  settle.h decides
 * which slabs become spares.
 */
INTERNAL void spares_remove(struct owner *o, struct slab *s);

#endif

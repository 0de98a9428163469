/* SPDX-License-Identifier: MIT */
/* Slots of the default heap: allocation for any thread, and the slot that a pointer names. */
#ifndef CORE_SLOT_H
#define CORE_SLOT_H

#include "internal.h"
#include "slab/slab.h"
#include "thread/bin.h"
#include "thread/seat.h"

/*
 * Returns the class of the slots that blocks of this class get.  Above SLOT_LARGE a slab has one slot, which no other
 * block shares a unit with.  So the slot has all that fits into the units, and a slab that is free serves each block
 * with that number of units.  This is not so where slabs of several slots use the ends of units (slab_packs).
 */
INTERNAL unsigned slot_class_large(unsigned class);
static ALWAYS_INLINE unsigned slot_class(unsigned class)
{
	return class > CLASS_ONE ? slot_class_large(class) : class;
}

/*
 * Takes a slot from the thread's own slabs or, if the thread has no record at hand, from an unowned slab.  Returns
 * NULL if there is no memory.  Sets *clean to whether the slot is known to read zero.
 */
INTERNAL SLOW void *slot_alloc(unsigned class, bool *clean);

/*
 * Takes a slot of a larger class, after slot_alloc returned NULL: perhaps only slots of other threads or sizes are
 * free.  The alignment is a power of two.
 */
INTERNAL SLOW void *slot_larger(unsigned class, size_t alignment, bool *clean);

/*
 * Value prediction.  If a program allocates the block that it has just released, each call would depend on the
 * previous call: word -> pointer -> slab -> word.  So the pointer is compared with the block released last; if the
 * CPU predicts that they are equal, nothing waits for the word.  The seat is closed, so no signal handler writes
 * seat.latest.  `unlikely` lets a pair end without a jump.
 */
static ALWAYS_INLINE void *slot_predicted(void *p)
{
	if (unlikely(p != seat.latest))
		return p;
	p = *(void *volatile *)&seat.latest; /* volatile, because otherwise the compiler uses p, which is equal */
	if (p == NULL)
		__builtin_unreachable(); /* as in bin_slot */
	return p;
}

/*
 * Takes a slot for a block of this size if the thread has a slot at hand: in a current slab or, above SLOT_LARGE, by
 * large_take.  Returns NULL if this is not possible at once; then no block has changed.
 */
INTERNAL void *slot_try(size_t size, bool *clean);

/* Finds the slot that starts at p in this slab.  Returns false if no slot does. */
static inline bool slot_find_in(struct slab *s, const void *p, struct slot_ref *at)
{
	at->slab = s;
	if (unlikely(!slab_index(s, p, &at->index)))
		return false;
	at->group = (uint32_t)(at->index / GROUP_SLOTS);
	at->bit = (uint64_t)1 << (at->index % GROUP_SLOTS);
	return true;
}

/* slot_find finds the slot that starts at p in a slab of this chunk.  Returns false if there is no such slot. */
INTERNAL bool slot_find(const struct chunk *c, const void *p, struct slot_ref *at);

static inline bool slot_is_taken(const struct slot_ref *at)
{
	uint64_t remote = 0;

	/*
	 * The remote word is read first, by acquire: slab_collect sets the free bit before clearing the remote bit,
	 * so these two reads see at least one of them for a free slot.
	 */
	if ((load_relaxed(&at->slab->owner) & OWNER_UNOWNED) == 0)
		remote = load_acquire(&at->slab->remote[at->group]);
	/* Acquire pairs with slot_take: the tag of a taken slot that is read is the tag that was set before. */
	return ((load_acquire(&at->slab->free[at->group]) | remote) & at->bit) == 0;
}

#ifdef CPU_LOADS_PAIRS
/*
 * The tests of own_slot, with a single branch.  The loads need no order among them: if the owner is the caller, the
 * caller wrote all four words or took the record over from their writer; otherwise the other words are not used.
 */
static ALWAYS_INLINE bool own_slot_at(const struct slab *s, const void *p, uint64_t *index)
{
	uint64_t owner, base, reciprocal, slots;
	unsigned __int128 product;

	_Static_assert(offsetof(struct slab, base) == 8 && offsetof(struct slab, slots) == 24, "pairs");
	cpu_load_pair(s, offsetof(struct slab, owner), owner, base);
	cpu_load_pair(s, offsetof(struct slab, reciprocal), reciprocal, slots);
	reciprocal &= seat.open;
	product = (unsigned __int128)((uintptr_t)p - base) * reciprocal;
	*index = (uint64_t)(product >> 64);
	return (owner == (uint64_t)(uintptr_t)seat.self) & ((uint64_t)product < reciprocal) &
	       (*index < slots);
}
#else
static ALWAYS_INLINE bool own_slot_at(const struct slab *s, const void *p, uint64_t *index)
{
	if (unlikely(load_relaxed(&s->owner) != (uint64_t)(uintptr_t)seat.self))
		return false;
	/* A closed seat makes the reciprocal 0, which rejects every pointer. */
	return slab_index_by(s, p, s->reciprocal & seat.open, index);
}
#endif

/*
 * Returns whether p is a slot of the caller's own slab and the seat is open; *index is the slot.  *s is in either
 * case the slab that map_guess_slab returned.
 *
 * The comparison of the owner word with seat.self tests three things at once: the slab belongs to the caller, the
 * slab is not unowned, and no remote bits are pending in it (one of them might be this slot's).
 */
static ALWAYS_INLINE bool own_slot(const void *p, struct slab **s, uint64_t *index)
{
	*s = map_guess_slab(p);
	if (unlikely(*s == NULL))
		return false;
	(void)CPU_KEEP(seat.open); /* the seat's address is computed here: loaded together with self */
	return own_slot_at(*s, p, index);
}

#endif

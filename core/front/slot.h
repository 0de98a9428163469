/* SPDX-License-Identifier: MIT */
/* Slots of the default heap: one for any thread, and the slot that a pointer names. */
#ifndef CORE_SLOT_H
#define CORE_SLOT_H

#include "internal.h"
#include "slab/slab.h"
#include "thread/bin.h"
#include "thread/seat.h"

/*
 * A slot from the thread's own slabs or, if it has no record at hand, from an unowned
 * slab.  NULL: no memory.  clean: the slot is known to read zero.
 */
INTERNAL SLOW void *slot_alloc(unsigned class, bool *clean);

/*
 * For the caller of slot_alloc that got NULL: a slot of a larger class, as other threads' or sizes' slots may be all that is
 * free.  alignment: a power of two.
 */
INTERNAL SLOW void *slot_larger(unsigned class, size_t alignment, bool *clean);

/*
 * Value prediction.  If a program allocates the block that it has just released, each
 * call would depend on the previous one: word -> pointer -> slab -> word.  So the
 * pointer is compared with the block released last; if the CPU predicts that they are
 * equal, nothing waits for the word.  The seat is closed, so that no signal handler
 * writes seat.latest meanwhile.  `unlikely`: a pair comes to its end without a jump.
 */
static ALWAYS_INLINE void *slot_predicted(void *p)
{
	if (unlikely(p != seat.latest))
		return p;
	p = *(void *volatile *)&seat.latest; /* volatile: else the compiler uses the equal p */
	if (p == NULL)
		__builtin_unreachable(); /* as in bin_slot */
	return p;
}

/*
 * A slot for a block of this size, if the thread has one at hand: in a current slab
 * or, above SLOT_LARGE, by large_take.  NULL: not possible at once; no block has changed.
 */
INTERNAL void *slot_try(size_t size, bool *clean);

/* The slot that starts at p in this slab; false: there is none. */
static inline bool slot_find_in(struct slab *s, const void *p, struct slot_ref *at)
{
	at->slab = s;
	if (unlikely(!slab_index(s, p, &at->index)))
		return false;
	at->group = (uint32_t)(at->index / GROUP_SLOTS);
	at->bit = (uint64_t)1 << (at->index % GROUP_SLOTS);
	return true;
}

/* Finds the slot that starts at p in a slab of this chunk; false: there is none. */
INTERNAL bool slot_find(const struct chunk *c, const void *p, struct slot_ref *at);
INTERNAL bool slot_is_taken(const struct slot_ref *at);

#ifdef CPU_LOADS_PAIRS
/*
 * The tests of own_slot with one branch for all.  The loads need no order among them: if the
 * owner is the caller, the caller wrote all four words, or took the record over from their
 * writer; if not, what the others say is not used.
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
 * True: p is a slot (*index) of the caller's own slab, and the seat is open.  *s is the
 * slab that map_guess_slab gave, in either case.
 *
 * Comparing the owner word with seat.self tests three things at once: the slab is the
 * caller's, it is not unowned, and no remote bits are pending in it (one might be this
 * slot's).
 */
static ALWAYS_INLINE bool own_slot(const void *p, struct slab **s, uint64_t *index)
{
	*s = map_guess_slab(p);
	if (unlikely(*s == NULL))
		return false;
	(void)CPU_KEEP(seat.open); /* where the seat's address is computed: loaded together with self */
	return own_slot_at(*s, p, index);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Slabs: slots of one class.  A slab belongs to one owner (thread/owner.h), which alone writes its free
 * words; or it is unowned, and all threads change them by atomic read-modify-writes (unowned.h).
 *
 *                     slot taken
 *      owner's store /    |    \ fetch_or by another thread
 *                   v     |     v
 *               free=1    |   remote=1
 *                   ^     |     |
 *                   +-----+-----+ owner collects: free |= remote, then remote &= ~
 *
 * While a collecting owner is between its two stores both bits are set: the slot is free, and a thread that
 * takes the slab over clears the remote bit.
 */
#ifndef CORE_SLAB_H
#define CORE_SLAB_H

#include "atomic.h"
#include "backend/map.h"
#include "backend/units.h"
#include "base/misuse.h"
#include "base/variant.h"
#include "internal.h"

/* A slot of a slab; all members follow from the pointer. */
struct slot_ref {
	struct slab *slab;
	uint64_t index; /* of the slot */
	uint32_t group;
	uint64_t bit;
};

/* Returns true if the slab has a free slot, by the owner's hints. */
static inline bool slab_is_ready(const struct slab *s)
{
	return s->ready != 0;
}

/* Notes that the group has no free slot. */
static ALWAYS_INLINE void slab_unready(struct slab *s, uint64_t g)
{
	s->ready &= ~((uint64_t)1 << g);
}

/*
 * Frees slots, for the owner: `word` is the group's free word with the slots' bits set, `ready` is the slab's
 * ready word.
 */
static ALWAYS_INLINE void slab_free(struct slab *s, uint64_t ready, uint64_t group, uint64_t word)
{
	/* In this order, see layout.h. */
	(void)cpu_set_bit(&ready, group);
	s->ready = ready;
	s->dirty = true;
	signal_fence();
	store_release(&s->free[group], word);
}

/* Returns true if storing `word` needs settle_freed, because the slab was full or may become empty. */
static ALWAYS_INLINE bool slab_has_event(const struct slab *s, uint64_t ready, uint64_t word)
{
	return ready == 0 || word == s->all_free;
}

/*
 * Gives slots back, for the owner: `word` is the group's free word with the slots' bits set.  Returns false,
 * and stores nothing, if that needs settle_freed.
 */
static ALWAYS_INLINE bool slab_give(struct slab *s, uint64_t group, uint64_t word)
{
	uint64_t ready = s->ready;

	if (unlikely(slab_has_event(s, ready, word)))
		return false;
	slab_free(s, ready, group, word);
	return true;
}

static inline uint64_t slab_group_mask(const struct slab *s, unsigned group)
{
	unsigned slots = (unsigned)load_relaxed(&s->slots) - group * GROUP_SLOTS;

	return slots >= GROUP_SLOTS ? ~(uint64_t)0 : bits_run(0, slots);
}

/* Returns true if the record is for unowned slabs, whether it has a slab or not. */
static inline bool slab_is_unowned(const struct slab *s)
{
	return record_is_unowned((uint32_t)((const char *)s - (const char *)load_relaxed(&s->chunk)));
}

/*
 * Returns the slab record of an address in a chunk.  In a unit without a slab, returns the chunk header,
 * which looks like a slab that rejects every pointer (layout.h).
 */
static inline struct slab *slab_record(const struct chunk *c, const void *p)
{
	/* Pairs with slab_publish: a record whose offset is seen is complete. */
	return record_at((struct chunk *)(uintptr_t)c,
			 load_acquire(&c->head[((uintptr_t)p >> UNIT_SHIFT) % CHUNK_UNITS]));
}

/*
 * Returns the slab that begins in this unit, or NULL.  Pairs with slab_publish: the record of the slab is
 * complete.
 */
static inline struct slab *slab_beginning(struct chunk *c, unsigned unit)
{
	uint32_t offset = load_acquire(&c->head[unit]);

	return record_begins(offset, unit) ? record_at(c, offset) : NULL;
}

/*
 * Returns true if s, which is NULL or from map_guess_slab, is the slab of this address.  The hint may name a
 * record that another thread is reusing at this moment, whose members are then half of one slab and half of
 * another, so chunk.head decides.  The answer stays true while a block at the address lives.
 */
static inline bool slab_is_of(const struct slab *s, const void *p)
{
	const struct chunk *c = map_guess(p);

	return c != NULL && slab_record(c, p) == s;
}

/* Finds the slab of an address in a chunk; returns false if there is no slab. */
static inline bool slab_find(const struct chunk *c, const void *p, struct slab **s)
{
	*s = slab_record(c, p);
	return (const void *)*s != (const void *)c;
}

/*
 * Computes the slot index of an address; returns false if no slot starts there.
 *
 * With r = ceil(2^64 / size) the high half of offset * r is offset / size, and the low half is below r
 * exactly when size divides offset (offset below 2^21, size at most 2^20: the excess of r adds up to less
 * than one step).  After Lemire, Kaser and Kurz, "Faster remainder by direct computation".
 */
static ALWAYS_INLINE bool slab_index_by(const struct slab *s, const void *p, uint64_t reciprocal,
					uint64_t *index)
{
	uint64_t offset = (uintptr_t)p - (uintptr_t)s->base;
	unsigned __int128 product = (unsigned __int128)offset * reciprocal;

	*index = (uint64_t)(product >> 64);
	return (uint64_t)product < reciprocal && *index < s->slots;
}

static ALWAYS_INLINE bool slab_index(const struct slab *s, const void *p, uint64_t *index)
{
	return slab_index_by(s, p, s->reciprocal, index);
}

/*
 * The part of an owned slab's last page that no slot fills lies before the slots.  So the first slots of
 * different classes, of which most programs use few, are in different sets of the first cache.  The slots
 * stay aligned, because the end of the units is aligned like their beginning.  Unowned slabs, and all slabs
 * of heaps that processes share, have no gap: their slots begin with the units, as in all files so far.
 */
#define SLAB_GAPS 4096 /* bytes of a way of the cache, and of the smallest page */
static inline unsigned slab_gap(const struct slab *s)
{
	return -((unsigned)load_relaxed(&s->slots) * load_relaxed(&s->slot_size)) % SLAB_GAPS;
}

/*
 * Returns true if slabs of this class, above SLOT_LARGE, have several slots: if the heap is locked, because
 * all its memory is resident, also the unused ends of units; or if addresses are short and there are many
 * spans that are alone.
 */
static inline bool slab_packs(const struct heap *h, unsigned class)
{
	return !large_is_pinned() && h == &heap_default && (load_relaxed(&h->locked) != 0 || (region_short() && !region_is_exact())) &&
	       class_size(class) % UNIT_SIZE != 0;
}

/*
 * Returns true if slabs of this class that are made while addresses are short have class_filled units,
 * because other numbers of units leave more than 1 % unused.
 */
static inline bool slab_fills(const struct heap *h, unsigned class)
{
	return h == &heap_default && class > CLASS_FILLED && class < CLASS_ONE && !class_is_aligned(class);
}

/*
 * Sets the constants of a slab in units that the caller holds, and returns the slab.  `record` is the offset
 * of its record.
 */
INTERNAL struct slab *slab_shape(struct units u, unsigned class, uint32_t record);

/* Makes the slab known to walks and releases, by the offset of its record. */
INTERNAL void slab_publish(const struct heap *h, struct slab *s);

/* Makes an owner's slab in units that the caller holds. */
INTERNAL struct slab *slab_open(struct heap *h, struct units u, unsigned class, uint64_t owner);

/* Unmakes the slab and passes its units to the caller, which holds every slot and the record. */
INTERNAL struct units slab_close(struct slab *s);

/*
 * Holding (slab.hold).  The owner allocates slots only from a slab that it holds: the current slab of a bin, or
 * for a single slot a slab of the partial list (bin_pass).  It unmakes only slabs that are not current.  So another
 * thread may hold a slab that is not current: until that thread lets go, free slots stay free, and their memory may
 * be purged while the owner sleeps (thread/settle.h).
 *
 *   SLAB_IDLE     not held: the slab is on a list
 *   SLAB_IN_USE   held by the owner: current, giving a slot, or about to be unmade.  Slabs of large
 *                 blocks are used without being held: see slab_is_purgeable (thread/settle_purge.c)
 *   other         holder_guest (thread/seat.h) of a thread that purges; others end
 *                 (base/roll.h), and a holder of an older generation vanished in a fork
 *                 if the fork is settled: before, the holder may be the thread that
 *                 forked, whose handler forked in the midst of the purge
 *
 * The word belongs to the record and outlives the slab.  A thread that finds a slab held uses another slab;
 * no thread waits.
 */
#define SLAB_IDLE   ((uint64_t)0)
#define SLAB_IN_USE ((uint64_t)1)

/* Holds the slab, for its owner.  Returns false if another thread holds the slab. */
INTERNAL bool slab_take(struct slab *s);

static inline void slab_let_go(struct slab *s)
{
	/* Pairs with the compare-and-swap of the next holder: taken slots are seen as taken. */
	store_release(&s->hold, SLAB_IDLE);
}

/*
 * Returns the heap of a slab, also if the slab may have gone, or the record may have another slab: a record's
 * chunk never changes.
 */
static inline struct heap *slab_heap(const struct slab *s)
{
	return chunk_heap(load_relaxed(&s->chunk));
}

/*
 * Makes a slab of this class (few: see class_units) for the owner.  Returns NULL if there is no memory, or
 * the heap would have to grow and may not.
 */
INTERNAL struct slab *slab_make(struct heap *h, unsigned class, bool few, uint64_t owner,
				bool grow);

/*
 * Arms the trigger of slab_has_event: sets s->all_free to the all-free word of a group that is not yet all
 * free.  Returns true if there is no such group, so that the slab is empty (remote bits do not count).
 * The group has a taken slot, so the slab cannot become empty without that event.  Repeating this at each event
 * therefore finds the slab empty in the end, also if slots were allocated in between.
 */
INTERNAL bool slab_arm(struct slab *s);

/*
 * Collects, for the owner: moves remote bits to the free words.  Returns true if there were remote bits.  If
 * `taken_over`, an owner that died between the two stores may have left both bits of a slot set; otherwise
 * both bits mean a double free, which is reported.
 */
INTERNAL bool slab_collect(struct slab *s, bool taken_over);

/* Reports a second release of a slot, found when its bits are collected or used again. */
INTERNAL _Noreturn void slab_report_double(const struct slab *s, unsigned group, unsigned bit);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Slabs: slots of one class.  A slab belongs to one owner, who alone writes
 * its free words, or it is shared and all change them by swaps (unowned.h).
 *
 *                     slot taken
 *      owner's store /    |    \ fetch_or by anyone else
 *                   v     |     v
 *               free=1    |   remote=1
 *                   ^     |     |
 *                   +-----+-----+ owner collects: free |= remote, then remote &= ~
 *
 * While a collecting owner is between its two stores both bits are set: the
 * slot is free then, and whoever takes over clears the remote bit.
 */
#ifndef CORE_SLAB_H
#define CORE_SLAB_H

#include "atomic.h"
#include "backend/units.h"
#include "backend/map.h"
#include "base/misuse.h"

/* A place in a slab; the pointer decides all of it. */
struct slot_ref {
	struct slab *slab;
	uint64_t index; /* of the slot */
	uint32_t group;
	uint64_t bit;
};

/* True: the owner has a free slot here, as far as it knows. */
static inline bool slab_is_ready(const struct slab *s)
{
	return s->ready != 0 || s->opened < s->groups;
}

/* A slot of the group is about to be free again. */
static inline void slab_make_ready(struct slab *s, uint32_t groups)
{
	/* In this order: ready is a part of dirty at every instant. */
	store_relaxed(&s->dirty, s->dirty | groups);
	signal_fence();
	store_relaxed(&s->ready, s->ready | groups);
	signal_fence();
}

/* What becomes the group's word tells that it was not ready, or is free throughout: owner_freed. */
static ALWAYS_INLINE bool slab_has_event(const struct slab *s, uint64_t group, uint64_t word)
{
	return ((s->ready >> group) & 1) == 0 || word == s->all_free;
}

static inline uint64_t slab_group_mask(const struct slab *s, unsigned group)
{
	unsigned slots = (unsigned)load_relaxed(&s->slots) - group * GROUP_SLOTS;

	return slots >= GROUP_SLOTS ? ~(uint64_t)0 : bits_run(0, slots);
}

/* True: the record is one of unowned slabs, whether it has one or not. */
static inline bool slab_is_unowned(const struct slab *s)
{
	return record_is_unowned((uint32_t)((const char *)s - (const char *)load_relaxed(&s->chunk)));
}

/*
 * True: what was read of its free words tells of slots.  Not so of unowned slab
 * that has gone meanwhile, or is about to: all bits of its record are 0.
 */
static inline bool slab_tells(const struct slab *s)
{
	fence_acquire();
	return !slab_is_unowned(s) ||
	       (load_relaxed(&s->owner) & (OWNER_UNOWNED | OWNER_CHANGING)) == OWNER_UNOWNED;
}

/*
 * The slab record of an address in a chunk; where there is no slab, the chunk
 * itself, which passes for a unowned slab without a single slot (layout.h).
 */
static inline struct slab *slab_record(const struct chunk *c, const void *p)
{
	/* Pairs with slab_publish: the record is complete when its place is seen. */
	return record_at((struct chunk *)(uintptr_t)c,
			 load_acquire(&c->head[((uintptr_t)p >> UNIT_SHIFT) % CHUNK_UNITS]));
}

/* True: a slab begins in this unit.  Pairs with slab_publish: its record is complete. */
static inline bool slab_begins(const struct chunk *c, unsigned unit)
{
	return record_begins(load_acquire(&c->head[unit]), unit);
}

/* The slab that begins in this unit; NULL: none. */
static inline struct slab *slab_beginning(struct chunk *c, unsigned unit)
{
	uint32_t place = load_acquire(&c->head[unit]);

	return record_begins(place, unit) ? record_at(c, place) : NULL;
}

/*
 * True: s, which map_guess_slab gave or NULL, is the slab of this address.  The hint
 * may name a record that another thread makes anew at this moment, so that what is
 * read of it is half of one slab and half of another; the chunk's head tells.  It
 * stays true while a block at the address lives.
 */
static inline bool slab_is_of(const struct slab *s, const void *p)
{
	const struct chunk *c = map_guess(p);

	return c != NULL && slab_record(c, p) == s;
}

/* The slab of an address in a chunk; false: there is none. */
static inline bool slab_find(const struct chunk *c, const void *p, struct slab **s)
{
	*s = slab_record(c, p);
	return (const void *)*s != (const void *)c;
}

/*
 * Slot index of an address; false: not the start of a slot.
 *
 * With r = ceil(2^64 / size) the high half of offset * r is offset / size,
 * and the low half is below r exactly when size divides offset (offset below
 * 2^21, size at most 2^20: the excess of r adds up to less than one step).
 * After Lemire, Kaser and Kurz, "Faster remainder by direct computation".
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

/* The first unit last, and in slab_unmake first: while it is there, all are (ash_check). */
static ALWAYS_INLINE void slab_publish(const struct heap *h, struct slab *s, uint32_t place)
{
	struct slab **hint = map_unit(s->base); /* of a chunk's units all are in a row */
	uint32_t *head = &s->chunk->head[s->unit];
	unsigned i;

	for (i = s->units; i-- > 0;) {
		if (h == &heap_default)
			store_release(&hint[i], s); /* with map_guess_slab */
		store_release(&head[i], place);     /* pairs with slab_record and slab_begins */
	}
}

/* What is constant of a slab in units that are the caller's. */
static ALWAYS_INLINE void slab_shape(struct slab *s, struct units u, unsigned class, size_t size,
				     unsigned slots)
{
	uint64_t *remote = (uint64_t *)(void *)(u.chunk->region->remote +
						(u.chunk->index * CHUNK_UNITS + u.first) *
							u.chunk->region->remote_stride);

	/*
	 * By relaxed stores: a walk or a late hint may still look at the slab that
	 * was here before, and then finds out that it is not.
	 */
	store_relaxed(&s->base, units_base(u));
	store_relaxed(&s->slot_size, (uint32_t)size);
	store_relaxed(&s->reciprocal, class_reciprocal(size));
	store_relaxed(&s->remote, remote);
	store_relaxed(&s->chunk, u.chunk);
	store_relaxed(&s->slots, slots);
	store_relaxed(&s->groups, (slots + GROUP_SLOTS - 1) / GROUP_SLOTS);
	store_relaxed(&s->class, (uint8_t)class);
	store_relaxed(&s->unit, (uint8_t)u.first);
	store_relaxed(&s->units, (uint8_t)u.count);
}

/* A slab of an owner in units that are the caller's. */
static ALWAYS_INLINE struct slab *slab_open(struct heap *h, struct units u, unsigned class,
					    size_t size, unsigned slots, uint64_t owner)
{
	struct slab *s = chunk_record(u.chunk, u.first);
	unsigned g;

	slab_shape(s, u, class, size, slots);
	s->all_free = 0;
	s->opened = 0;
	s->spare = false;
	s->next = s->previous = NULL;
	for (g = 0; g < s->groups; g++)
		store_relaxed(&s->free[g], slab_group_mask(s, g));
	if (unlikely(h->sharing == PAGES_SHARED))
		heap_hooks->slab_made(s);
	s->ready = 0;
	s->dirty = u.clean ? 0 : UINT32_MAX;
	/* Pairs with walks, which look at the owner first. */
	store_release(&s->owner, owner);
	slab_publish(h, s, record_offset(u.first));
	return s;
}

/* Its units become the caller's, who holds every slot and the record. */
static ALWAYS_INLINE struct units slab_close(struct slab *s)
{
	struct units u = {s->chunk, s->unit, s->units, false};
	unsigned i;

	/*
	 * All slots are free, so a remote bit is a second release that raced with
	 * the first.  This is the last moment to see it; left there, it would free
	 * a slot of the next slab.
	 */
	for (i = 0; i < s->groups; i++) {
		uint64_t remote = load_relaxed(&s->remote[i]);

		if (unlikely(remote != 0))
			misuse_double(s, i, bits_lowest(remote));
	}
	for (i = 0; i < u.count; i++)
		store_release(&u.chunk->head[u.first + i], (uint32_t)0);
	store_relaxed(&s->owner, 0);
	return u;
}

/*
 * Holding.  Its owner takes slots of a slab only while it is the current one of a bin,
 * and the slab itself only when it is none.  So somebody else may hold one that is
 * not current: until he lets go, a slot of it that is free stays so, and its memory
 * may be purged while the owner sleeps (slab_purge.h).
 *
 *   SLAB_IDLE     nobody: on a list
 *   SLAB_IN_USE   the owner: current, or about to be closed.  Not so a slab of
 *                 large.h: what is said there makes it safe
 *   other         holder_guest (holder.h) of a thread that purges; that of an older
 *                 generation vanished in a fork
 *
 * The word belongs to the record: it outlives the slab.  Whoever finds a slab held
 * takes another; nobody waits.
 */
#define SLAB_IDLE   ((uint64_t)0)
#define SLAB_IN_USE ((uint64_t)1)

/* For its owner.  False: somebody else holds it. */
bool slab_take(struct slab *s);

static inline void slab_let_go(struct slab *s)
{
	/* Pairs with the swaps that hold it: slots taken are seen as taken. */
	store_release(&s->hold, SLAB_IDLE);
}

/*
 * A slab of this class (few: see class_units) for the owner.
 * NULL: no memory, or the heap would have to grow and may not.
 */
struct slab *slab_make(struct heap *h, unsigned class, bool few, uint64_t owner, bool grow);

/* The memory back to the chunk; the caller holds every slot and the record, and took the slab. */
void slab_unmake(struct heap *h, struct slab *s);

/*
 * Sets s->all_free to the word of a group whose getting full is worth a look: one
 * that is not yet free throughout.  A slab from which nothing is allocated
 * only fills up, so the last look finds it empty.  True: it is now (remote
 * slots do not count).
 */
bool slab_watch(struct slab *s);

/*
 * Owner: moves remote bits to the free words.  True: there were some.
 * `taken_over`: an owner that died between the two stores may have left both
 * bits of a slot set; otherwise that is a slot released twice, and reported.
 */
bool slab_collect(struct slab *s, bool taken_over);

/* Finds the ready groups anew, from the bitmaps. */
void slab_refresh(struct slab *s);

#endif

/* SPDX-License-Identifier: MIT */
#include "backend/chunk.h"
#include "backend/retain.h"
#include "base/bits.h"
#include "pages.h"
#include "slab/look.h"
#include "thread/settle.h"

#define HAND_STEP   64 /* units of slabs with their first free slot, for a look at a chunk */
#define HOLES_STEP  4  /* such units of a record's own slabs while holes go                */
#define BUSY_ROUNDS 4  /* rounds without a purge until steps are rare again                */

/*
 * Returns whether `bytes` more free bytes in slabs may not stay beside `kept`.  The floor counts twice, because a
 * round that lies in two bursts counts only a part of the kept memory, at least a half, and the floor is the most of
 * a few rounds.
 */
static bool hand_is_full(const struct heap *h, uint64_t kept, uint64_t bytes)
{
	uint64_t least = h->options->retain / RETAIN_PART;
	uint64_t used = least == 0 ? 0 : heap_live(h) * UNIT_SIZE / RETAIN_PART;

	return kept + load_relaxed(&h->dirty) * UNIT_SIZE + bytes >
	       (used > least ? used : least) + 2 * load_relaxed(&h->floor) * UNIT_SIZE;
}

/* ---- slabs that others emptied ---- */

/*
 * Returns whether other threads emptied the slab and its owner has not collected it.  A hint unless the caller holds
 * the slab.  A fence has no access, so its memory is neither compared nor purged.
 */
static bool is_foreign(const struct slab *s)
{
	uint64_t owner = load_acquire(&s->owner); /* as in slab_is_purgeable */
	unsigned g = load_relaxed(&s->groups);

	if ((owner & OWNER_PENDING) == 0 || owner <= OWNER_FLAGS || slab_is_fenced(s))
		return false;
	while (g-- > 0)
		if ((~slab_free_word(s, g) & slab_group_mask(s, g)) != 0)
			return false;
	return true;
}

static uint64_t foreign_bytes(const struct slab *s)
{
	return load_relaxed(&s->units) * UNIT_SIZE;
}

/* Purges all of a slab that other threads emptied.  Returns the slab's bytes, or 0 if the slab is held or is not purged. */
static uint64_t foreign_purge(struct heap *h, struct slab *s)
{
	uint64_t bytes = 0;
	char *base;

	store_relaxed(&h->idle.busy, (uint64_t)BUSY_ROUNDS);
	if (!slab_hold(h, s))
		return 0;
	if (slab_is_purgeable(s) && is_foreign(s) && load_relaxed(&s->purged) == 0) {
		base = load_relaxed(&s->base);
		base -= (uintptr_t)base % UNIT_SIZE;
		bytes = foreign_bytes(s);
		if (heap_purge(h, base, bytes)) {
			store_relaxed(&s->purged, (uint8_t)SLAB_CLEAN);
		} else {
			store_relaxed(&s->purged, (uint8_t)SLAB_REFUSED);
			bytes = 0;
		}
	}
	slab_leave(s);
	return bytes;
}

/* ---- holes ---- */

/* Returns the free slots of the slab, without slots that the owner has still to collect. */
static unsigned free_slots(const struct slab *s)
{
	unsigned g = load_relaxed(&s->groups), n = 0;

	while (g-- > 0)
		n += bits_count(load_relaxed(&s->free[g]));
	return n;
}

/* Purges the pages of the slab that have no taken slot. */
static uint64_t holes_purge(struct heap *h, struct slab *s)
{
	uint64_t bytes = 0;

	if (!slab_hold(h, s))
		return 0;
	if (slab_is_purgeable(s)) {
		bytes = slab_purge(h, s, range_purge, NULL);
		/* Counted while s is held, because slots that were free before may be taken: a full slab is not hollow. */
		store_relaxed(&s->hollow, (uint16_t)free_slots(s));
		if (bytes != 0)
			store_relaxed(&h->idle.holes, (uint64_t)BUSY_ROUNDS);
	}
	slab_leave(s);
	return bytes;
}

/*
 * Returns the bytes of holes in a slab that waits on a list, and stores the number of free slots.  The estimate
 * assumes that whole free pages begin where a fourth of the slots is free.  An empty slab is a spare, and has no
 * holes.
 */
static uint64_t holes_bytes(const struct slab *s, unsigned *n)
{
	unsigned slots = (unsigned)load_relaxed(&s->slots);

	if (slots < 2 || load_relaxed(&s->hold) != SLAB_IDLE || slab_is_unowned(s) || slab_is_fenced(s))
		return 0;
	*n = free_slots(s);
	if (*n <= slots / 4 || *n >= slots)
		return 0;
	return (uint64_t)(*n - slots / 4) * load_relaxed(&s->slot_size) * 4 / 3;
}

/* Returns whether the holes were purged and fewer than an eighth of the slots was released since. */
static bool holes_are_purged(const struct slab *s, unsigned n)
{
	unsigned before = load_relaxed(&s->hollow);

	return before != 0 && n <= before + (unsigned)load_relaxed(&s->slots) / 8;
}

/* ---- the hand ---- */

/* Counts the bytes that were purged. */
static void hand_gone(struct heap *h, uint64_t bytes)
{
	if (bytes == 0)
		return;
	retain_gone(h, bytes / UNIT_SIZE, heap_live(h));
	fetch_add_relaxed(&h->idle.gone, bytes);
}

/* Keeps or purges the free memory of the slab.  Returns the bytes that were purged. */
static uint64_t slab_look(struct heap *h, struct slab *s)
{
	unsigned n = 0;
	bool foreign = is_foreign(s);
	uint64_t bytes = foreign ? foreign_bytes(s) : holes_bytes(s, &n);

	if (bytes == 0)
		return 0;
	fetch_add_relaxed(&h->idle.found, bytes);
	if (foreign ? load_relaxed(&s->purged) != 0 : holes_are_purged(s, n))
		return 0;
	if (hand_is_full(h, load_relaxed(&h->idle.kept), bytes))
		return foreign ? foreign_purge(h, s) : holes_purge(h, s);
	fetch_add_relaxed(&h->idle.kept, bytes);
	return 0;
}

static void hand_look(struct heap *h, struct chunk *c)
{
	uint64_t bytes = 0;
	struct slab *s;
	unsigned unit = 0;

	while ((s = walk_slab(c, &unit)) != NULL)
		bytes += slab_look(h, s);
	hand_gone(h, bytes);
}

/* Stores the round's figures as those of the last round. */
static void hand_ends(struct heap *h)
{
	/* Each exchange pairs with nothing, like the hand: it only loses bytes that a step adds at that moment. */
	store_relaxed(&h->idle.found_before, exchange_seq_cst(&h->idle.found, 0));
	store_relaxed(&h->idle.kept_before, exchange_seq_cst(&h->idle.kept, 0));
	if (exchange_seq_cst(&h->idle.gone, 0) != 0)
		return;
	if (load_relaxed(&h->idle.busy) != 0)
		store_relaxed(&h->idle.busy, load_relaxed(&h->idle.busy) - 1);
	if (load_relaxed(&h->idle.holes) != 0)
		store_relaxed(&h->idle.holes, load_relaxed(&h->idle.holes) - 1);
}

/*
 * Looks at the next chunk of slabs, or ends the round.  The hand is claimed first, so that a thread with an old hand
 * neither looks twice nor ends the next round, whose figures would then say that little was found.
 */
static void hand_step(struct heap *h)
{
	uint64_t before = load_relaxed(&h->idle.hand), hand = before;
	struct chunk *c = walk_chunk(h, &hand);

	/* Pairs with nothing: the figures are hints, and a slab is found by slab_beginning. */
	if (!cas_acquire(&h->idle.hand, &before, hand))
		return;
	if (hand == 0)
		hand_ends(h);
	else if (c != NULL)
		hand_look(h, c);
}

static bool hand_passes(const struct heap *h)
{
	return heap_kind(h)->own_records && PAGE_SIZE <= UNIT_SIZE;
}

void hand_told(struct slab *s)
{
	struct heap *h = slab_heap(s);
	uint64_t told = load_relaxed(&h->idle.told) + load_relaxed(&s->units);

	if (!hand_passes(h))
		return;
	if (told < HAND_STEP && load_relaxed(&h->idle.busy) == 0) {
		store_relaxed(&h->idle.told, told);
		return;
	}
	store_relaxed(&h->idle.told, (uint64_t)0);
	hand_step(h);
	/* A slab of one slot is empty already. */
	if (load_relaxed(&h->idle.busy) != 0 && load_relaxed(&s->slots) == 1 && is_foreign(s) &&
	    hand_is_full(h, load_relaxed(&h->idle.kept_before), foreign_bytes(s)))
		hand_gone(h, foreign_purge(h, s));
}

void hand_opened(struct owner *o, unsigned units)
{
	o->opened = (uint8_t)(o->opened + units);
	if (o->opened < (load_relaxed(&o->heap->idle.holes) != 0 ? HOLES_STEP : HAND_STEP))
		return;
	o->opened = 0;
	if (hand_passes(o->heap))
		hand_step(o->heap);
}

/* SPDX-License-Identifier: MIT */
#include "thread/settle.h"

#include "backend/chunk.h"
#include "backend/region.h"
#include "backend/retain.h"
#include "base/bits.h"
#include "pages.h"
#include "slab/look.h"
#include "thread/seat.h"

/* Purges or retains the resident whole pages of a range without taken slots. */
static size_t range_purge(struct heap *h, char *from, char *to, size_t *room)
{
	size_t bytes = 0, there;

	from += -(uintptr_t)from & (PAGE_SIZE - 1);
	to -= (uintptr_t)to & (PAGE_SIZE - 1);
	if (from >= to)
		return 0;
	there = pages_written(from, (size_t)(to - from), h->sharing);
	if (there <= *room)
		*room -= there;
	else if (heap_purge(h, from, (size_t)(to - from)))
		bytes = there;
	return bytes;
}

/* The remote word is read first: the owner sets free bits before it clears remote bits. */
static uint64_t free_word(const struct slab *s, unsigned g)
{
	uint64_t remote = load_acquire(&load_relaxed(&s->remote)[g]);

	/* Acquire pairs with the owner's releases, which go on while the slab is held. */
	return remote | load_acquire(&s->free[g]);
}

static bool slot_is_free(const struct slab *s, size_t slot)
{
	return (free_word(s, (unsigned)(slot / GROUP_SLOTS)) >> (slot % GROUP_SLOTS)) & 1;
}

/* Purges each run of free slots, with what no slot fills before the first one or behind the last one. */
static size_t slab_purge(struct heap *h, const struct slab *s, size_t *room)
{
	size_t bytes = 0, slots = load_relaxed(&s->slots), size = load_relaxed(&s->slot_size);
	char *base = load_relaxed(&s->base), *begin = base - (uintptr_t)base % UNIT_SIZE;
	size_t i, start;

	if (slab_is_fenced(s))
		return 0; /* it has no memory, or is one of few (FENCES_KEPT) */
	for (i = 0; i < slots; i++) {
		if (!slot_is_free(s, i))
			continue;
		for (start = i; i < slots && slot_is_free(s, i);)
			i++;
		bytes += range_purge(h, start == 0 ? begin : base + start * size,
				     i == slots ? begin + load_relaxed(&s->units) * UNIT_SIZE
						: base + i * size,
				     room);
	}
	return bytes;
}

/*
 * True: until the held slab is let go, none of its free slots is taken and the slab is not
 * unmade.  All its members are read after it was held, as the record may have become
 * another slab since it was found.
 *
 * A slab of one slot qualifies only if another thread released the slot.  If its owner did,
 * the slab may be cached (refill.h), and is then taken or closed without regard to the
 * hold.  A slot with its remote bit set is never in the cache.
 */
static bool is_purgeable(const struct slab *s)
{
	/* Pairs with slab_open: the members read below are this slab's. */
	uint64_t owner = load_acquire(&s->owner);

	if (owner <= OWNER_PENDING || (owner & OWNER_UNOWNED) != 0)
		return false;
	if (load_relaxed(&s->slots) > 1)
		return true;
	return (load_acquire(&load_relaxed(&s->remote)[0]) & 1) != 0 &&
	       load_relaxed(&s->free[0]) == 0 && load_relaxed(&s->slots) == 1;
}

/* Holds the slab as a guest, until slab_let_go.  False: it is current, or another thread purges it. */
static bool slab_hold(struct heap *h, struct slab *s)
{
	uint64_t idle = SLAB_IDLE, me = holder_guest(h);

	/* Acquire pairs with slab_let_go. */
	return me != 0 && load_relaxed(&s->hold) == SLAB_IDLE && cas_acquire(&s->hold, &idle, me);
}

size_t slabs_purge_held(struct heap *h, struct slab *s, size_t *room)
{
	size_t bytes = 0;

	if (!slab_hold(h, s))
		return 0;
	if (is_purgeable(s))
		bytes = slab_purge(h, s, room);
	slab_let_go(s);
	return bytes;
}

size_t slabs_purge_others(struct heap *h, const struct owner *o, size_t *room)
{
	struct walk w = walk_from(h);
	struct slab *s;
	size_t bytes = 0;

	if (!heap_kind(h)->own_records)
		return 0; /* a slab would stay held if this process died */
	while ((s = walk_next(&w)) != NULL)
		if (!owner_has(o, s))
			bytes += slabs_purge_held(h, s, room);
	return bytes;
}

#define FOREIGN_STEP 64 /* units, for a look at a chunk      */
#define FOREIGN_ROUNDS 4 /* in which nothing goes, until steps are rare again */

/* True: other threads emptied the slab, and its owner has not collected it.  A hint unless it is held. */
static bool is_foreign(const struct slab *s)
{
	uint64_t owner = load_acquire(&s->owner); /* as in is_purgeable */
	unsigned g = load_relaxed(&s->groups);

	if ((owner & OWNER_PENDING) == 0 || owner <= OWNER_FLAGS)
		return false;
	while (g-- > 0)
		if ((~free_word(s, g) & slab_group_mask(s, g)) != 0)
			return false;
	return true;
}

/* Purges all of a slab that others emptied.  Units. */
static uint64_t foreign_purge(struct heap *h, struct slab *s)
{
	uint64_t units = 0;
	char *base;

	if (!slab_hold(h, s))
		return 0;
	if (is_purgeable(s) && is_foreign(s) && load_relaxed(&s->purged) == 0) {
		base = load_relaxed(&s->base);
		base -= (uintptr_t)base % UNIT_SIZE;
		units = load_relaxed(&s->units);
		if (heap_purge(h, base, units * UNIT_SIZE)) {
			store_relaxed(&s->purged, (uint8_t)SLAB_CLEAN);
		} else {
			store_relaxed(&s->purged, (uint8_t)SLAB_REFUSED);
			units = 0;
		}
	}
	slab_let_go(s);
	return units;
}

/*
 * True: so many units more that others emptied may not stay, beside `kept`.  A round that lies in two
 * bursts counts a part of what is kept, down to a half, and the floor is the most of a few rounds: so
 * twice the floor.
 */
static bool foreign_is_full(const struct heap *h, uint64_t kept, uint64_t units)
{
	uint64_t least = h->options->retain / UNIT_SIZE / 4, used = load_relaxed(&h->used);
	uint64_t found = load_relaxed(&h->foreign.found), before = load_relaxed(&h->foreign.found_before);

	found = found > before ? found : before;
	used = used > found && least != 0 ? (used - found) / 4 : 0;
	return kept + load_relaxed(&h->dirty) + units >
	       (used > least ? used : least) + 2 * load_relaxed(&h->floor);
}

static void foreign_goes(struct heap *h, struct slab *s)
{
	uint64_t units = foreign_purge(h, s);

	uint64_t gone = fetch_add_relaxed(&h->foreign.gone, units) + units, used = load_relaxed(&h->used);

	retain_gone(h, units, used > gone ? used - gone : 0);
	store_relaxed(&h->foreign.busy, (uint64_t)FOREIGN_ROUNDS);
}

static void foreign_look(struct heap *h, struct chunk *c)
{
	uint64_t units, kept;
	struct slab *s;
	unsigned unit;

	for (unit = 0; unit < CHUNK_UNITS; unit++) {
		s = slab_beginning(c, unit);
		if (s == NULL || !is_foreign(s))
			continue;
		units = load_relaxed(&s->units);
		fetch_add_relaxed(&h->foreign.found, units);
		if (load_relaxed(&s->purged) != 0)
			continue;
		kept = load_relaxed(&h->foreign.kept);
		if (foreign_is_full(h, kept, units))
			foreign_goes(h, s);
		else
			fetch_add_relaxed(&h->foreign.kept, units);
	}
}

/* The round's figures become those of the last one. */
static void foreign_ends(struct heap *h)
{
	/* Each pairs with nothing, as the hand: an exchange only loses no unit that a step adds meanwhile. */
	store_relaxed(&h->foreign.found_before, exchange_seq_cst(&h->foreign.found, 0));
	store_relaxed(&h->foreign.kept_before, exchange_seq_cst(&h->foreign.kept, 0));
	if (exchange_seq_cst(&h->foreign.gone, 0) == 0 && load_relaxed(&h->foreign.busy) != 0)
		store_relaxed(&h->foreign.busy, load_relaxed(&h->foreign.busy) - 1);
}

/*
 * Looks at the next chunk of slabs, or ends the round.  The hand is claimed first: a thread that comes with
 * an old one neither looks twice nor ends the next round, whose figures would then say that little was found.
 */
static void foreign_step(struct heap *h)
{
	uint64_t before = load_relaxed(&h->foreign.hand), hand = before;
	struct chunk *c = walk_chunk(h, &hand);

	/* Pairs with nothing: the figures are hints, and a slab is found by slab_beginning. */
	if (!cas_acquire(&h->foreign.hand, &before, hand))
		return;
	if (hand == 0)
		foreign_ends(h);
	else if (c != NULL)
		foreign_look(h, c);
}

void slabs_purge_foreign(struct slab *s)
{
	struct heap *h = slab_heap(s);
	uint64_t told = load_relaxed(&h->foreign.told) + load_relaxed(&s->units);

	if (!heap_kind(h)->own_records || PAGE_SIZE > UNIT_SIZE)
		return;
	if (told < FOREIGN_STEP && load_relaxed(&h->foreign.busy) == 0) {
		store_relaxed(&h->foreign.told, told);
		return;
	}
	store_relaxed(&h->foreign.told, (uint64_t)0);
	foreign_step(h);
	/* One of one slot is empty already. */
	if (load_relaxed(&h->foreign.busy) != 0 && load_relaxed(&s->slots) == 1 && is_foreign(s) &&
	    foreign_is_full(h, load_relaxed(&h->foreign.kept_before), load_relaxed(&s->units)))
		foreign_goes(h, s);
}

size_t slabs_purge(struct owner *o, size_t *room)
{
	struct slab *s;
	size_t bytes = 0;
	unsigned class;

	for (class = 0; class < CLASSES; class++) {
		if (o->bins[class].slab != 0)
			bytes += slab_purge(o->heap, bin_slab(o, &o->bins[class]), room);
		for (s = o->bins[class].partial.head; s != NULL; s = s->next) {
			if (!slab_take(s))
				continue; /* another thread purges it */
			bytes += slab_purge(o->heap, s, room);
			slab_let_go(s);
		}
	}
	return bytes;
}

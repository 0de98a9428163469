/* SPDX-License-Identifier: MIT */
#include "store/recover/recover.h"

#include "backend/region.h"
#include "front/span.h"
#include "store/recover/building.h"
#include "store/recover/census.h"

/*
 * The units of a slab chunk that are neither free nor in a slab.  *unowned: those in which an
 * unowned slab begins.
 */
static uint64_t lost_units(const struct chunk *c, uint64_t *unowned)
{
	uint64_t used = load_acquire(&c->units), bit = 1; /* pairs with chunk_put */
	uint32_t begins = record_offset(0), slab = 0, place;
	unsigned u;

	*unowned = 0;
	/* The first unit of a slab is the lowest; it is published last and cleared first. */
	for (u = 0; u < CHUNK_UNITS; u++, bit <<= 1, begins += sizeof(struct slab)) {
		place = load_acquire(&c->head[u]); /* pairs with slab_publish */
		if (place - begins == record_offset_unowned(0) - record_offset(0))
			*unowned |= bit;
		else if (place != begins && (place != slab || place == 0))
			continue;
		slab = place;
		used |= bit;
	}
	return ~used;
}

static void return_units(struct heap *h, struct chunk *c, uint64_t lost)
{
	while (lost != 0) {
		struct units u = {c, (uint16_t)bits_lowest(lost), 1, false};

		store_release(&c->head[u.first], (uint32_t)0);
		units_give(h, u);
		lost = bits_without_lowest(lost);
	}
}

/* The slots of a group of an unowned slab that are taken and were never handed out. */
static uint64_t lost_slots(const struct slab *s, unsigned group)
{
	uint64_t taken = slab_group_mask(s, group) & ~load_acquire(&s->free[group]), lost = 0;

	for (; taken != 0; taken = bits_without_lowest(taken)) {
		unsigned bit = bits_lowest(taken);

		if (load_relaxed(census_tag(s, group * GROUP_SLOTS + bit)) == TAG_NONE)
			lost |= (uint64_t)1 << bit;
	}
	return lost;
}

/*
 * The examination of one thing.  Lost memory remains lost until it is returned, so the
 * first pass may run while other threads build; only what it suspects is examined again,
 * at moments when none does.
 */
struct pass {
	struct store *s;
	uint64_t sum;
	bool calm;	/* no thread was building when this pass began */
	bool disturbed; /* it found something that it could not prove  */
};

/* True: what was just found to be lost is lost. */
static bool pass_holds(struct pass *p)
{
	uint64_t sum;

	/* Pairs with building_begin: the counters are read after what was examined. */
	fence_acquire();
	if (!p->calm || !building_quiet(p->s, &sum) || sum != p->sum)
		p->disturbed = true;
	return !p->disturbed;
}

static void examine_slab(struct pass *p, struct slab *s)
{
	unsigned g;

	if ((load_acquire(&s->owner) & OWNER_UNOWNED) == 0)
		return;
	if ((load_relaxed(&s->owner) & OWNER_CHANGING) != 0 && pass_holds(p))
		fetch_and_acq_rel(&s->owner, ~OWNER_CHANGING);
	for (g = 0; g < load_relaxed(&s->groups); g++) {
		uint64_t lost = lost_slots(s, g);

		if (lost != 0 && pass_holds(p))
			fetch_or_release(&s->free[g], lost); /* pairs with slot_in */
	}
}

/* Examines chunk i of the region; returns the number of chunks that belong together. */
static size_t examine_chunk(struct pass *p, struct region *r, size_t i)
{
	struct heap *h = &p->s->heap;
	struct run run = {r, i};
	struct chunk *c = region_chunk(r, i);
	struct slab *s;
	size_t n = 1;
	uint64_t lost, unowned;
	bool known;

	if (bits_all(r->free, i, 1))
		return n;
	/* A record that is not known yet is not read: its maker died before it wrote anything. */
	known = bits_all(r->known, i, 1);
	if (known && chunk_is(c, CHUNK_SPAN)) {
		n = load_relaxed(&c->span_chunks);
		if (load_relaxed(&c->clean) == TAG_NONE && pass_holds(p))
			(void)span_release(c, c->base);
	} else if (known && chunk_is(c, CHUNK_SLABS)) {
		lost = lost_units(c, &unowned);
		if (lost != 0 && pass_holds(p))
			return_units(h, c, lost);
		for (; unowned != 0; unowned = bits_without_lowest(unowned))
			if ((s = slab_beginning(c, bits_lowest(unowned))) != NULL)
				examine_slab(p, s);
		chunk_mend(h, c);
	} else if (pass_holds(p)) {
		heap_soiled(h, CHUNK_UNITS);
		region_give(run, 1, false);
	}
	return n;
}

/* Records that were reserved and never made: their makers died before. */
static void examine_records(struct pass *p)
{
	uint64_t used = load_acquire(&p->s->records_used), i;

	for (i = 0; i < used; i++) {
		struct owner *r = store_record(p->s, i);

		if (!store_owner_is_made(p->s, i) && pass_holds(p)) {
			owner_reset(r);
			owner_publish(&p->s->heap, r, OWNER_VACANT);
		}
	}
}

/* The counts of units may be off by what dead threads did not finish. */
static void recount(struct pass *p)
{
	struct heap *h = &p->s->heap;
	struct region *r = load_acquire(&h->regions);
	uint64_t before = load_relaxed(&h->both), now = 0;
	size_t i, n;

	for (i = 0; i < load_relaxed(&r->chunks); i += n) {
		const struct chunk *c = region_chunk(r, i);

		n = 1;
		if (bits_all(r->free, i, 1)) {
			now += region_dirty((struct run){r, i}, 1) * CHUNK_UNITS;
		} else if (!bits_all(r->known, i, 1)) {
			continue;
		} else if (load_acquire(&c->kind) == CHUNK_SPAN) { /* pairs with the release of its kind */
			n = load_relaxed(&c->span_chunks);
			now += n * CHUNK_UNITS * HEAP_USED;
		} else if (load_acquire(&c->kind) == CHUNK_SLABS) { /* pairs with chunk_open */
			uint64_t units = load_acquire(&c->units); /* pairs with chunk_put */

			now += bits_count(units & ~load_relaxed(&c->clean));
			now += (CHUNK_UNITS - bits_count(units)) * HEAP_USED;
		}
	}
	if (now != before && pass_holds(p))
		heap_peaks(h, fetch_add_relaxed(&h->both, now - before) + now - before);
}

enum { PASS_ATTEMPTS = 32 };

/* The first pass does not require quiescence; it suffices when nothing is lost. */
static void pass_begin(struct pass *p, unsigned attempt)
{
	p->disturbed = false;
	p->calm = attempt > 0 && building_quiet(p->s, &p->sum);
}

/* True: all memory that was lost before is returned. */
static bool search(struct store *s)
{
	struct pass p = {s, 0, false, true};
	struct region *r = load_acquire(&s->heap.regions);
	unsigned attempt;
	bool all = true;
	size_t i, n = 1;

	for (i = 0; i < load_relaxed(&r->chunks); i += n) {
		attempt = 0;
		do {
			pass_begin(&p, attempt);
			n = examine_chunk(&p, r, i);
		} while (p.disturbed && ++attempt < PASS_ATTEMPTS);
		all = all && !p.disturbed;
	}
	attempt = 0;
	do {
		pass_begin(&p, attempt);
		examine_records(&p);
		recount(&p);
	} while (p.disturbed && ++attempt < PASS_ATTEMPTS);
	return all && !p.disturbed;
}

void lost_memory_return(struct store *s)
{
	uint64_t me = lives_thread(&s->heap), who = load_acquire(&s->recoverer), lost;

	/*
	 * The searcher may be this thread, interrupted by a signal handler.  Acquire pairs with
	 * the release of the last searcher, or with the fence of lives_thread_is_over.
	 */
	if (me == 0 || who == me || (who != 0 && !lives_thread_is_over(s, who)) ||
	    !cas_acq_rel(&s->recoverer, &who, me))
		return;
	lost = load_acquire(&s->lost); /* pairs with the threads that count deaths */
	/* Only after the search: if the caller dies in it, the next thread searches again. */
	if (search(s))
		fetch_add_acq_rel(&s->lost, (uint64_t)0 - lost);
	store_release(&s->recoverer, 0);
}

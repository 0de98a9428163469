/* SPDX-License-Identifier: MIT */
#include "shm/seats.h"

#include "shm/benches.h"
#include "borrow.h"
#include "shm/building.h"
#include "shm/census.h"
#include "process.h"
#include "thread/reap.h"
#include "world.h"
#include "thread/seat.h"
#include "thread/seating.h"

#ifdef ASHLAR_SINGLE_THREAD
struct seat_page *seats_open[SEAT_KINDS];
static struct bench *benches[SEAT_KINDS];
#else
_Thread_local struct seat_page *seats_open[SEAT_KINDS];
static _Thread_local struct bench *benches[SEAT_KINDS];
#endif

static struct bench *bench_make(unsigned kind)
{
	uint64_t none = 0;
	struct bench *b = bench_take(kind);

	if (b == NULL)
		return NULL;
	/* One instruction: a handler may do the same. */
	if (!cas_acquire((uint64_t *)(void *)&benches[kind], &none, (uint64_t)(uintptr_t)b)) {
		bench_leave(b);
		return (struct bench *)(uintptr_t)none;
	}
	if (kind != SEATS_SHARED || process_mark_is_wiped())
		seats_open[kind] = b->page;
	return b;
}

/* What was inherited goes; where fork does not wipe, all of it. */
static void inherited_clear(struct bench *b)
{
	struct seat_entry *e;
	size_t entries, at;
	unsigned i;

	for (i = 0; i < BENCH_PARTS && (e = bench_part(b, i, &entries)) != NULL; i++)
		for (at = 0; at < entries; at++)
			e[at] = (struct seat_entry){0};
	b->page->life = b->page->process = b->page->world = 0;
	bench_keep(b);
	signal_fence();
	process_set_mark(&b->page->mark);
}

static struct bench *bench_of(unsigned kind)
{
	struct bench *b = benches[kind];

	if (unlikely(b == NULL))
		return bench_make(kind);
	if (kind == SEATS_SHARED && unlikely(process_has_forked(&b->page->mark)))
		inherited_clear(b);
	return b;
}

/* An entry of the part without a heap, marked busy.  *stop: a call that we interrupted is at it. */
static struct seat_entry *part_claim(struct seat_entry *part, size_t entries, uint64_t id, bool *stop)
{
	size_t i;

	for (i = 0; i < BENCH_PROBES; i++) {
		struct seat_entry *e = bench_probe(part, entries, id, i);
		uint64_t there = load_relaxed(&e->id);

		/* It is about to enter this heap, perhaps. */
		if (there == ID_BUSY)
			*stop = true;
		/* One instruction, as handlers claim entries, too. */
		else if (there == 0 && cas_acq_rel(&e->id, &there, ID_BUSY))
			return e;
		if (*stop)
			break;
	}
	return NULL;
}

/* Where there is no memory for more: at the cost of a heap that no call has checked out. */
static struct seat_entry *entry_displace(struct bench *b, uint64_t id)
{
	size_t i;

	for (i = 0; i < BENCH_PROBES; i++) {
		struct seat_entry *e = bench_probe(b->page->entry, SEAT_ENTRIES, id, i);
		uint64_t there = load_relaxed(&e->id);

		if (there == ID_BUSY)
			return NULL;
		if (there != ID_CLOSING && (there == 0 || load_relaxed(&e->owner) != NULL) &&
		    cas_acq_rel(&e->id, &there, ID_BUSY))
			return e;
	}
	return NULL;
}

/* An entry without a heap; marked busy. */
static struct seat_entry *entry_claim(struct bench *b, uint64_t id)
{
	struct seat_entry *part, *e;
	bool stop = false;
	size_t entries;
	unsigned i;

	for (i = 0; i < BENCH_PARTS && !stop; i++) {
		part = bench_part(b, i, &entries);
		if (part == NULL) {
			if (!bench_grow(b))
				break;
			part = bench_part(b, i, &entries);
		}
		e = part_claim(part, entries, id, &stop);
		if (e != NULL)
			return e;
	}
	return stop ? NULL : entry_displace(b, id);
}

static struct seat_entry *entry_for(struct heap *h)
{
	struct bench *b = bench_of(seats_kind(h));
	struct seat_entry *e, *other;

	if (unlikely(b == NULL))
		return NULL;
	e = bench_find(b, h->id);
	if (likely(e != NULL))
		return e;
	e = entry_claim(b, h->id);
	if (e == NULL)
		return NULL;
	store_relaxed(&e->owner, (struct owner *)NULL);
	store_relaxed(&e->self, (struct owner *)NULL);
	e->census = 0;
	signal_fence();
	/* A handler may have entered the heap before we claimed a place; never two. */
	other = bench_find(b, h->id);
	store_relaxed(&e->id, other == NULL ? h->id : 0);
	return other == NULL ? e : other;
}

/* ---- lives ---- */

/* The page with the lives of the thread and its process; NULL: they cannot be kept. */
static struct seat_page *lives(void)
{
	struct bench *b = bench_of(SEATS_SHARED);
	struct seat_page *page = b == NULL ? NULL : b->page;

	if (page == NULL || page->life != 0)
		return page;
	/* The page is our parent's, and names its thread some day. */
	if (memory_is_borrowed())
		return NULL;
	page->process = life_of_process();
	page->world = world_now();
	signal_fence(); /* a handler finds all or asks again */
	page->life = life_of_thread();
	return page;
}

uint64_t seats_life(struct heap *h)
{
	const struct seat_page *page = lives();
	uint64_t world = page != NULL ? page->world : world_now();

	if (!world_is(store_of(h)->world, world))
		return 0;
	return page != NULL ? page->life : life_of_thread();
}

uint64_t seats_process(struct heap *h)
{
	const struct seat_page *page = lives();

	return page != NULL && world_is(store_of(h)->world, page->world) ? page->process : 0;
}

/* ---- records ---- */

/*
 * All records are in use, perhaps by the dead: asked now and then, since in a
 * heap of more threads than records each call comes here.
 */
static struct owner *fill_after_reaping(struct seat_entry *t, struct heap *h)
{
	enum { NOW_AND_THEN = 1024 };

	if (load_relaxed(&t->self) != NULL || h->sharing != PAGES_SHARED ||
	    fetch_add_relaxed(&store_of(h)->refused, 1) % NOW_AND_THEN != 0 ||
	    owner_reap(h, NULL) == 0)
		return NULL;
	return seat_fill(&t->self, h);
}

/* A record for the seat: until there is one we build as a stranger. */
static struct owner *fill(struct seat_entry *t, struct heap *h)
{
	struct building b;
	struct owner *o;

	if (load_relaxed(&t->self) != NULL)
		return NULL;
	/* Nobody could tell when the thread is dead, or all would too soon. */
	if (h->sharing == PAGES_SHARED && seats_process(h) == 0)
		return NULL;
	b = building_begin(h, NULL);
	o = seat_fill(&t->self, h);
	if (o == NULL)
		o = fill_after_reaping(t, h);
	if (o != NULL && h->sharing == PAGES_SHARED)
		o->census = census_join(store_of(h));
	building_end(b);
	return o;
}

struct owner *seats_take(struct heap *h, struct seat_entry **t)
{
	struct seat_entry *e = entry_for(h);
	struct owner *o;

	if (unlikely(e == NULL))
		return NULL;
	*t = e;
	o = seat_checkout(e, h->id);
	return likely(o != NULL) ? o : fill(*t, h);
}

void seats_leave(struct seat_entry *t)
{
	signal_fence(); /* see seat_leave */
	store_relaxed(&t->self, (struct owner *)NULL);
	signal_fence();
	store_relaxed(&t->id, 0);
}

uint64_t *seats_census(struct heap *h)
{
	struct seat_entry *e = entry_for(h);

	return e == NULL ? NULL : &e->census;
}

struct owner *seats_self(struct heap *h)
{
	struct bench *b = benches[seats_kind(h)];
	struct seat_entry *e = b == NULL ? NULL : bench_find(b, h->id);
	struct owner *o = e == NULL ? NULL : load_relaxed(&e->self);

	return o == SEAT_BUSY ? NULL : o;
}

void seats_end(void)
{
	unsigned kind;

	for (kind = 0; kind < SEAT_KINDS; kind++) {
		struct bench *b = benches[kind];

		seats_open[kind] = NULL;
		benches[kind] = NULL;
		signal_fence();
		if (b != NULL)
			bench_leave(b);
	}
}

void seats_reap(void)
{
	benches_reap();
}

void seats_forget(void)
{
	unsigned kind;

	for (kind = 0; kind < SEAT_KINDS; kind++)
		if (benches[kind] != NULL)
			inherited_clear(benches[kind]);
}

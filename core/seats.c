/* SPDX-License-Identifier: MIT */
#include "seats.h"

#include "building.h"
#include "census.h"
#include "process.h"
#include "reap.h"

#define PROBES	4
#define ID_BUSY (~(uint64_t)0) /* being given to a heap */

#ifdef ASH_SINGLE_THREAD
struct seat_page *seats_open[SEAT_KINDS];
static struct seat_page *pages[SEAT_KINDS];
#else
_Thread_local struct seat_page *seats_open[SEAT_KINDS];
static _Thread_local struct seat_page *pages[SEAT_KINDS];
#endif

static struct seat_page *page_make(unsigned kind)
{
	uint64_t none = 0;
	/* Also the page that is not wiped has a mark: nobody asks for it. */
	struct seat_page *t = kind == SEATS_SHARED
				      ? (struct seat_page *)(void *)process_mark()
				      : pages_reserve(PAGE_SIZE, PAGE_SIZE, PAGES_PRIVATE);

	if (t == NULL)
		return NULL;
	/* One instruction: a handler may do the same. */
	if (!swap_acquire((uint64_t *)(void *)&pages[kind], &none, (uint64_t)(uintptr_t)t)) {
		(void)pages_release(t, PAGE_SIZE);
		return (struct seat_page *)(uintptr_t)none;
	}
	if (kind != SEATS_SHARED || process_mark_is_wiped())
		seats_open[kind] = t;
	return t;
}

/* Where fork does not wipe: what was inherited goes. */
static void page_clear(struct seat_page *t)
{
	size_t i;

	t->life = t->process = 0;
	for (i = 0; i < SEAT_ENTRIES; i++)
		t->entry[i] = (struct seat_entry){0};
	signal_fence();
	process_set_mark(&t->mark);
}

static unsigned kind_of(const struct heap *h)
{
	return h->id & 1;
}

static struct seat_page *page_of(unsigned kind)
{
	struct seat_page *t = pages[kind];

	if (unlikely(t == NULL))
		return page_make(kind);
	if (kind == SEATS_SHARED && unlikely(process_has_forked(&t->mark)))
		page_clear(t);
	return t;
}

/* An entry without a heap, at the cost of another heap if need be; marked busy. */
static struct seat_entry *entry_claim(struct seat_page *t, size_t at)
{
	unsigned i, pass;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < PROBES; i++) {
			struct seat_entry *e = &t->entry[(at + i) % SEAT_ENTRIES];
			uint64_t id = load_relaxed(&e->id);

			/* A call that we interrupted is about to enter this heap, perhaps. */
			if (id == ID_BUSY)
				return NULL;
			/* Not one that such a call has checked out. */
			if (id != 0 && (pass == 0 || e->owner == NULL))
				continue;
			/* One instruction, as handlers claim entries, too. */
			if (swap_acquire(&e->id, &id, ID_BUSY))
				return e;
		}
	return NULL;
}

static struct seat_entry *entry_find(const struct seat_page *t, const struct heap *h)
{
	size_t at = seat_home(h->id), i;

	for (i = 0; i < PROBES; i++)
		if (t->entry[(at + i) % SEAT_ENTRIES].id == h->id)
			return (struct seat_entry *)(uintptr_t)&t->entry[(at + i) % SEAT_ENTRIES];
	return NULL;
}

static struct seat_entry *entry_for(struct heap *h)
{
	struct seat_page *t = page_of(kind_of(h));
	struct seat_entry *e, *other;

	if (unlikely(t == NULL))
		return NULL;
	e = entry_find(t, h);
	if (likely(e != NULL))
		return e;
	e = entry_claim(t, seat_home(h->id));
	if (e == NULL)
		return NULL;
	e->owner = e->self = NULL;
	signal_fence();
	/* A handler may have entered the heap before we claimed a place; never two. */
	other = entry_find(t, h);
	store_relaxed(&e->id, other == NULL ? h->id : 0);
	return other == NULL ? e : other;
}

/*
 * All records are in use, perhaps by the dead: asked now and then, since in a
 * heap of more threads than records each call comes here.
 */
static struct owner *fill_after_reaping(struct seat_entry *t, struct heap *h)
{
	enum { NOW_AND_THEN = 1024 };

	if (t->self != NULL || h->sharing != PAGES_SHARED ||
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

	if (t->self != NULL)
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
	t->self = NULL;
	signal_fence();
	t->id = 0;
}

/* Asked of the system once, and kept in the page if there is one. */
static uint64_t life_kept(uint64_t *kept, uint64_t (*ask)(void))
{
	if (kept == NULL)
		return ask();
	if (*kept == 0)
		*kept = ask();
	return *kept;
}

uint64_t seats_life(void)
{
	struct seat_page *t = page_of(SEATS_SHARED);

	return life_kept(t == NULL ? NULL : &t->life, life_of_thread);
}

uint64_t seats_process(void)
{
	struct seat_page *t = page_of(SEATS_SHARED);

	return life_kept(t == NULL ? NULL : &t->process, life_of_process);
}

void seats_end(void)
{
	unsigned kind;

	for (kind = 0; kind < SEAT_KINDS; kind++) {
		struct seat_page *t = pages[kind];

		seats_open[kind] = NULL;
		pages[kind] = NULL;
		signal_fence();
		if (t != NULL)
			(void)pages_release(t, PAGE_SIZE);
	}
}

struct owner *seats_self(struct heap *h)
{
	struct seat_page *t = pages[kind_of(h)];
	struct seat_entry *e = t == NULL ? NULL : entry_find(t, h);
	struct owner *o = e == NULL ? NULL : e->self;

	return o == SEAT_BUSY ? NULL : o;
}

void seats_forget(void)
{
	unsigned kind;

	for (kind = 0; kind < SEAT_KINDS; kind++)
		if (pages[kind] != NULL)
			page_clear(pages[kind]);
}

/* SPDX-License-Identifier: MIT */
#include "seats.h"

#include "census.h"
#include "process.h"
#include "recover.h"

struct entry {
	uint64_t id; /* of the heap; 0: empty */
	struct seat seat;
};

#define ENTRIES ((PAGE_SIZE - CPU_LINE) / sizeof(struct entry))
#define PROBES	4
#define ID_BUSY (~(uint64_t)0) /* being given to a heap */

struct page {
	uint64_t mark; /* see process.h */
	uint64_t life; /* of this thread, or 0; in the page for shared heaps */
	_Alignas(CPU_LINE) struct entry entry[ENTRIES];
};
_Static_assert(sizeof(struct page) <= PAGE_SIZE, "one page");

enum { OF_PROCESS, SHARED, KINDS };

#ifdef ASH_SINGLE_THREAD
static struct page *pages[KINDS];
#else
static _Thread_local struct page *pages[KINDS];
#endif

static struct page *page_make(unsigned kind)
{
	uint64_t none = 0;
	/* Also the page that is not wiped has a mark: nobody asks for it. */
	struct page *t = kind == SHARED ? (struct page *)(void *)process_mark()
					: pages_reserve(PAGE_SIZE, PAGE_SIZE, PAGES_PRIVATE);

	if (t == NULL)
		return NULL;
	/* One instruction: a handler may do the same. */
	if (!swap_acquire((uint64_t *)(void *)&pages[kind], &none, (uint64_t)(uintptr_t)t)) {
		(void)pages_release(t, PAGE_SIZE);
		t = (struct page *)(uintptr_t)none;
	}
	return t;
}

/* Where fork does not wipe: what was inherited goes. */
static void page_clear(struct page *t)
{
	size_t i;

	t->life = 0;
	for (i = 0; i < ENTRIES; i++)
		t->entry[i] = (struct entry){0};
	signal_fence();
	process_set_mark(&t->mark);
}

static unsigned kind_of(const struct heap *h)
{
	return h->sharing == PAGES_SHARED ? SHARED : OF_PROCESS;
}

static struct page *page_of(unsigned kind)
{
	struct page *t = pages[kind];

	if (unlikely(t == NULL))
		return page_make(kind);
	if (kind == SHARED && unlikely(process_has_forked(&t->mark)))
		page_clear(t);
	return t;
}

/* An entry without a heap, at the cost of another heap if need be; marked busy. */
static struct entry *entry_claim(struct page *t, size_t at)
{
	unsigned i, pass;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < PROBES; i++) {
			struct entry *e = &t->entry[(at + i) % ENTRIES];
			uint64_t id = load_relaxed(&e->id);

			/* Not one that a call which we interrupted has checked out. */
			if (id == ID_BUSY || (id != 0 && (pass == 0 || e->seat.owner == NULL)))
				continue;
			/* One instruction, as handlers claim entries, too. */
			if (swap_acquire(&e->id, &id, ID_BUSY))
				return e;
		}
	return NULL;
}

static struct entry *entry_find(const struct page *t, const struct heap *h)
{
	size_t at = h->id % ENTRIES, i;

	for (i = 0; i < PROBES; i++)
		if (t->entry[(at + i) % ENTRIES].id == h->id)
			return (struct entry *)(uintptr_t)&t->entry[(at + i) % ENTRIES];
	return NULL;
}

static struct seat *seat_find(struct heap *h)
{
	struct page *t = page_of(kind_of(h));
	struct entry *e;

	if (unlikely(t == NULL))
		return NULL;
	e = entry_find(t, h);
	if (likely(e != NULL))
		return &e->seat;
	e = entry_claim(t, h->id % ENTRIES);
	if (e == NULL)
		return NULL;
	e->seat = (struct seat){NULL, NULL, 0};
	signal_fence();
	store_relaxed(&e->id, h->id);
	return &e->seat;
}

/* A record for the seat: until there is one we build as a stranger. */
static struct owner *fill(struct seat *t, struct heap *h)
{
	struct building b;
	struct owner *o;

	if (t->self != NULL || !building_begin(h, NULL, &b))
		return NULL;
	o = seat_fill(t, h);
	if (o != NULL && h->sharing == PAGES_SHARED)
		o->census = census_join(store_of(h));
	building_end(b);
	return o;
}

struct owner *seats_take(struct heap *h, struct seat **t)
{
	struct owner *o;

	*t = seat_find(h);
	if (unlikely(*t == NULL))
		return NULL;
	o = (*t)->owner;
	if (unlikely(o == NULL))
		return fill(*t, h);
	(*t)->owner = NULL;
	signal_fence(); /* see seat_take */
	return o;
}

uint64_t seats_life(void)
{
	struct page *t = page_of(SHARED);

	if (t == NULL)
		return life_of_thread();
	if (t->life == 0)
		t->life = life_of_thread();
	return t->life;
}

void seats_end(void)
{
	unsigned kind;

	for (kind = 0; kind < KINDS; kind++) {
		struct page *t = pages[kind];

		pages[kind] = NULL;
		signal_fence();
		if (t != NULL)
			(void)pages_release(t, PAGE_SIZE);
	}
}

struct owner *seats_self(struct heap *h)
{
	struct page *t = pages[kind_of(h)];
	struct entry *e = t == NULL ? NULL : entry_find(t, h);
	struct owner *o = e == NULL ? NULL : e->seat.self;

	return o == SEAT_BUSY ? NULL : o;
}

void seats_forget(void)
{
	unsigned kind;

	for (kind = 0; kind < KINDS; kind++)
		if (pages[kind] != NULL)
			page_clear(pages[kind]);
}

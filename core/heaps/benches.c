/* SPDX-License-Identifier: MIT */
#include "heaps/benches.h"

#include "generation.h"
#include "pages.h"
#include "process.h"
#include "thread/seat.h"

static struct bench *first[SEAT_KINDS];
/* Hints: the numbers of vacant benches without and with a page. */
static uint64_t vacant[SEAT_KINDS][2];

/* Takes the bench if the holder word is `word`.  The bench must be empty, except for entries with ID_CLOSING. */
static bool bench_hold(struct bench *b, uint64_t word)
{
	uint64_t me = holder_here();

	/* Acquire pairs with bench_leave: this thread sees the last holder's stores to the entries. */
	if (me == 0 || !cas_acq_rel(&b->holder, &word, me))
		return false;
	store_relaxed(&b->note, process_note());
	return true;
}

/* Returns whether the holder's thread has certainly ended. */
static bool bench_is_left(const struct bench *b, uint64_t word)
{
	/* The calling thread may be the holder: a signal handler may have just taken the bench. */
	return word != 0 && holder_number(word) != holder_number(holder_here()) &&
	       holder_has_ended(word, load_relaxed(&b->note));
}

struct bench *benches_first(unsigned kind)
{
	/* Pairs with bench_enter. */
	return load_acquire(&first[kind]);
}

/* Takes a vacant bench, with `paged` only a bench that has a page. */
static struct bench *take_vacant(unsigned kind, bool paged)
{
	struct bench *b;

	if (load_relaxed(&vacant[kind][paged]) == 0)
		return NULL;
	for (b = benches_first(kind); b != NULL; b = b->next) {
		uint64_t word = load_acquire(&b->holder); /* pairs with bench_leave, for the page */

		if (word == 0 && (load_relaxed(&b->page) != NULL) == paged &&
		    bench_hold(b, word)) {
			fetch_add_relaxed(&vacant[kind][paged], (uint64_t)-1);
			return b;
		}
	}
	/* The count includes benches of threads that do not exist after a fork. */
	store_relaxed(&vacant[kind][paged], (uint64_t)0);
	return NULL;
}

/* Returns whether an entry is left, because seats_close of another thread is emptying that entry. */
static bool part_clear(struct seat_entry *e, size_t entries)
{
	bool left = false;
	size_t i;

	for (i = 0; i < entries; i++) {
		uint64_t id = load_relaxed(&e[i].id);

		left |= id == ID_CLOSING;
		if (id == 0 || id == ID_CLOSING)
			continue;
		/* First, because 0 is the id of arenas, which must not find a record. */
		store_relaxed(&e[i].self, (struct owner *)NULL);
		/* Release pairs with the acquire of part_claim: a free entry has no record. */
		left |= !cas_acq_rel(&e[i].id, &id, 0);
	}
	return left;
}

/*
 * Empties all entries except those that seats_close of another thread is emptying.  Returns whether there are such
 * entries.
 */
static bool bench_clear(struct bench *b)
{
	struct seat_entry *e;
	bool left = false;
	size_t entries;
	unsigned i;

	for (i = 0; i < BENCH_PARTS && (e = bench_part(b, i, &entries)) != NULL; i++)
		left |= part_clear(e, entries);
	if (b->page != NULL)
		page_forget(b->page);
	return left;
}

/*
 * Takes the bench of an ended thread.  Each call asks about two holders, so that at most about as many benches of
 * ended threads as of live threads exist.
 */
static struct bench *take_left(unsigned kind)
{
	enum { STEPS = 64, ASKED = 2 };
	static struct bench *turn[SEAT_KINDS];
	/* Acquire pairs with the release below: a bench that another thread found is complete. */
	struct bench *b = load_acquire(&turn[kind]);
	unsigned i, asked = 0;

	for (i = 0; i < STEPS && asked < ASKED; i++) {
		uint64_t word;

		b = b == NULL || b->next == NULL ? benches_first(kind) : b->next;
		if (b == NULL)
			return NULL;
		store_release(&turn[kind], b);
		word = load_acquire(&b->holder);
		if (word == 0)
			continue;
		asked++;
		if (bench_is_left(b, word) && bench_hold(b, word)) {
			(void)bench_clear(b);
			return b;
		}
	}
	return NULL;
}

static void bench_enter(unsigned kind, struct bench *b)
{
	uint64_t top = (uint64_t)(uintptr_t)load_relaxed(&first[kind]);

	do
		b->next = (struct bench *)(uintptr_t)top;
	/* Pairs with benches_first: a bench is complete when it can be found. */
	while (!cas_acq_rel((uint64_t *)(void *)&first[kind], &top, (uint64_t)(uintptr_t)b));
}

/* Makes a page of benches.  The caller becomes the holder of the first. */
static struct bench *benches_make(unsigned kind)
{
	struct bench *b = pages_reserve(PAGE_LEAST, PAGE_LEAST, PAGES_PRIVATE);
	size_t i;

	if (b == NULL)
		return NULL;
	b->holder = holder_here();
	b->note = process_note();
	for (i = 0; i < PAGE_LEAST / sizeof *b; i++) {
		b[i].kind = kind;
		bench_enter(kind, &b[i]);
	}
	fetch_add_relaxed(&vacant[kind][false], i - 1);
	return b;
}

/* Gives a bench without a page a page.  Returns false if there is no memory. */
static bool bench_has_page(struct bench *b)
{
	struct seat_page *page = b->page;

	if (page != NULL)
		process_set_mark(&page->mark);
	else if (b->kind == SEATS_SHARED)
		page = (struct seat_page *)(void *)process_mark();
	else
		page = pages_reserve(PAGE_LEAST, PAGE_LEAST, PAGES_PRIVATE);
	/* Pairs with bench_part. */
	store_release(&b->page, page);
	return page != NULL;
}

struct bench *bench_take(unsigned kind)
{
	struct bench *b;

	generation_watch();
	if (holder_here() == 0)
		return NULL;
	b = take_vacant(kind, true);
	if (b == NULL)
		b = take_left(kind);
	if (b == NULL)
		b = take_vacant(kind, false);
	if (b == NULL)
		b = benches_make(kind);
	if (b != NULL && !bench_has_page(b)) {
		bench_leave(b);
		b = NULL;
	}
	return b;
}

void bench_keep(struct bench *b)
{
	(void)bench_hold(b, load_relaxed(&b->holder));
}

struct seat_entry *bench_find(const struct bench *b, uint64_t id)
{
	struct seat_entry *part;
	size_t entries, n;
	unsigned i;

	for (i = 0; i < BENCH_PARTS && (part = bench_part(b, i, &entries)) != NULL; i++)
		for (n = 0; n < BENCH_PROBES; n++)
			if (load_relaxed(&bench_probe(part, entries, id, n)->id) == id)
				return bench_probe(part, entries, id, n);
	return NULL;
}

bool bench_grow(struct bench *b)
{
	uint64_t none = 0;
	size_t bytes;
	void *part;
	unsigned i;

	for (i = 1; i < BENCH_PARTS; i++) {
		if (load_relaxed(&b->more[i - 1]) != NULL)
			continue;
		bytes = sizeof(struct seat_entry) * SEAT_ENTRIES << i;
		part = pages_reserve(bytes, PAGE_LEAST, PAGES_PRIVATE);
		if (part == NULL)
			return false;
		/* A compare-and-swap, because a signal handler may do the same. */
		if (!cas_acq_rel((uint64_t *)(void *)&b->more[i - 1], &none,
				 (uint64_t)(uintptr_t)part))
			(void)pages_release(part, bytes);
		return true;
	}
	return false;
}

/* Empties the bench.  The memory is purged if the kernel allows it. */
static void bench_purge(struct bench *b)
{
	struct seat_entry *e;
	size_t entries;
	unsigned i;

	/*
	 * A bench with ID_CLOSING in it stays.  Without the mark the next holder could give the entry to another heap
	 * at once, and seats_close would remove that heap's record.
	 */
	if (bench_clear(b))
		return;
	for (i = 0; i < BENCH_PARTS && (e = bench_part(b, i, &entries)) != NULL; i++)
		(void)pages_purge(i == 0 ? (void *)b->page : e,
				  i == 0 ? PAGE_LEAST : entries * sizeof *e, PAGES_PRIVATE);
}

void bench_leave(struct bench *b)
{
	/* This is read before another thread can hold the bench and give the bench a page. */
	bool paged = b->page != NULL;

	bench_purge(b);
	/* Pairs with bench_hold and take_vacant. */
	store_relaxed(&b->note, 0);
	store_release(&b->holder, 0);
	fetch_add_relaxed(&vacant[b->kind][paged], 1);
}

void benches_reap(void)
{
	struct bench *b;
	unsigned kind;

	for (kind = 0; kind < SEAT_KINDS; kind++)
		for (b = benches_first(kind); b != NULL; b = b->next) {
			uint64_t word = load_acquire(&b->holder);

			if (bench_is_left(b, word) && bench_hold(b, word))
				bench_leave(b);
		}
}

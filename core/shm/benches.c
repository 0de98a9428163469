/* SPDX-License-Identifier: MIT */
#include "shm/benches.h"

#include "generation.h"
#include "identity.h"
#include "pages.h"
#include "process.h"

static struct bench *first[SEAT_KINDS];
/* Hints: how many are nobody's, without a page and with one. */
static uint64_t vacant[SEAT_KINDS][2];

#define THREAD_BITS   22
#define THREAD_MASK   (((uint64_t)1 << THREAD_BITS) - 1)
#define TAKES_SHIFT   (THREAD_BITS + GENERATION_BITS)
#define THREAD(word)  ((word)&THREAD_MASK)
#define NOT_JUDGED    THREAD_MASK
_Static_assert(TAKES_SHIFT < 64, "room for takes");

/*
 * The word of the calling thread after this one.  Takes count up, so that who
 * is about to take a bench for a dead thread's does not mistake a new holder for it.
 */
static uint64_t word_after(uint64_t word)
{
	uint64_t takes = (word >> TAKES_SHIFT) + 1, thread = process_thread();

	/* The kernel may refuse to tell. */
	if (thread == 0 || thread > NOT_JUDGED)
		thread = NOT_JUDGED;
	return takes << TAKES_SHIFT | generation_now() << THREAD_BITS | thread;
}

/* Of what belongs to the last holder nothing may be left but what others have in hand. */
static bool take(struct bench *b, uint64_t word)
{
	if (!cas_acq_rel(&b->holder, &word, word_after(word)))
		return false;
	/* Until here the number is an older holder's: of another process, or of this one. */
	store_relaxed(&b->process, (uint32_t)process_number());
	return true;
}

/* True: its thread has ended for certain. */
static bool is_left(const struct bench *b, uint64_t word)
{
	uint64_t me = identity_here();

	/* Ours: by a handler, which has just taken it for this thread. */
	return THREAD(word) != 0 && THREAD(word) != NOT_JUDGED &&
	       THREAD(word) != process_thread() &&
	       (word >> THREAD_BITS & (((uint64_t)1 << GENERATION_BITS) - 1)) == generation_now() &&
	       identity_has_ended((uint64_t)load_relaxed(&b->process) << 32 | THREAD(word), me);
}

struct bench *benches_first(unsigned kind)
{
	/* Pairs with bench_enter. */
	return load_acquire(&first[kind]);
}

/* paged: one that has a page already. */
static struct bench *take_vacant(unsigned kind, bool paged)
{
	struct bench *b;

	if (load_relaxed(&vacant[kind][paged]) == 0)
		return NULL;
	for (b = benches_first(kind); b != NULL; b = b->next) {
		uint64_t word = load_acquire(&b->holder);

		if (THREAD(word) == 0 && (load_relaxed(&b->page) != NULL) == paged && take(b, word)) {
			fetch_add_relaxed(&vacant[kind][paged], (uint64_t)-1);
			return b;
		}
	}
	/* Counted by threads that a fork has ended. */
	store_relaxed(&vacant[kind][paged], (uint64_t)0);
	return NULL;
}

static void part_clear(struct seat_entry *e, size_t entries)
{
	size_t i;

	for (i = 0; i < entries; i++) {
		uint64_t id = load_relaxed(&e[i].id);

		if (id == 0 || id == ID_CLOSING)
			continue;
		/* First: 0 is the id of arenas, which must find no record. */
		store_relaxed(&e[i].self, (struct owner *)NULL);
		(void)cas_acq_rel(&e[i].id, &id, 0);
	}
}

/* No entry is a heap's, but those which another thread is about to empty. */
static void bench_clear(struct bench *b)
{
	struct seat_entry *e;
	size_t entries;
	unsigned i;

	for (i = 0; i < BENCH_PARTS && (e = bench_part(b, i, &entries)) != NULL; i++)
		part_clear(e, entries);
	if (b->page != NULL)
		b->page->life = b->page->process = b->page->world = 0;
}

/* Two are asked about each time: so there are at most as many left ones as others, or so. */
static struct bench *take_left(unsigned kind)
{
	enum { STEPS = 64, ASKED = 2 };
	static struct bench *turn[SEAT_KINDS];
	struct bench *b = load_relaxed(&turn[kind]);
	unsigned i, asked = 0;

	for (i = 0; i < STEPS && asked < ASKED; i++) {
		uint64_t word;

		b = b == NULL || b->next == NULL ? benches_first(kind) : b->next;
		if (b == NULL)
			return NULL;
		store_relaxed(&turn[kind], b);
		word = load_acquire(&b->holder);
		if (THREAD(word) == 0)
			continue;
		asked++;
		if (is_left(b, word) && take(b, word)) {
			bench_clear(b);
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
	/* Pairs with benches_first: it is complete when seen. */
	while (!cas_acq_rel((uint64_t *)(void *)&first[kind], &top, (uint64_t)(uintptr_t)b));
}

/* A page of benches; the caller has the first one. */
static struct bench *benches_make(unsigned kind)
{
	struct bench *b = pages_reserve(PAGE_SIZE, PAGE_SIZE, PAGES_PRIVATE);
	size_t i;

	if (b == NULL)
		return NULL;
	(void)take(b, 0);
	for (i = 0; i < PAGE_SIZE / sizeof *b; i++) {
		b[i].kind = kind;
		bench_enter(kind, &b[i]);
	}
	fetch_add_relaxed(&vacant[kind][false], i - 1);
	return b;
}

static bool has_page(struct bench *b)
{
	struct seat_page *page = b->page;

	if (page != NULL)
		process_set_mark(&page->mark);
	else if (b->kind == SEATS_SHARED)
		page = (struct seat_page *)(void *)process_mark();
	else
		page = pages_reserve(PAGE_SIZE, PAGE_SIZE, PAGES_PRIVATE);
	/* Pairs with bench_part. */
	store_release(&b->page, page);
	return page != NULL;
}

struct bench *bench_take(unsigned kind)
{
	struct bench *b;

	generation_watch();
	b = take_vacant(kind, true);
	if (b == NULL)
		b = take_left(kind);
	if (b == NULL)
		b = take_vacant(kind, false);
	if (b == NULL)
		b = benches_make(kind);
	if (b != NULL && !has_page(b)) {
		bench_leave(b);
		b = NULL;
	}
	return b;
}

void bench_keep(struct bench *b)
{
	(void)take(b, load_relaxed(&b->holder));
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
		part = pages_reserve(bytes, PAGE_SIZE, PAGES_PRIVATE);
		if (part == NULL)
			return false;
		/* One instruction: a handler may do the same. */
		if (!cas_acq_rel((uint64_t *)(void *)&b->more[i - 1], &none, (uint64_t)(uintptr_t)part))
			(void)pages_release(part, bytes);
		return true;
	}
	return false;
}

/* The memory goes as far as it can; what is in it, in any case. */
static void bench_purge(struct bench *b)
{
	struct seat_entry *e;
	size_t entries;
	unsigned i;

	bench_clear(b);
	for (i = 0; i < BENCH_PARTS && (e = bench_part(b, i, &entries)) != NULL; i++)
		(void)pages_purge(i == 0 ? (void *)b->page : e,
				  i == 0 ? PAGE_SIZE : entries * sizeof *e, PAGES_PRIVATE);
}

void bench_leave(struct bench *b)
{
	bench_purge(b);
	store_release(&b->holder, load_relaxed(&b->holder) & ~THREAD_MASK);
	fetch_add_relaxed(&vacant[b->kind][b->page != NULL], 1);
}

void benches_reap(void)
{
	struct bench *b;
	unsigned kind;

	for (kind = 0; kind < SEAT_KINDS; kind++)
		for (b = benches_first(kind); b != NULL; b = b->next) {
			uint64_t word = load_acquire(&b->holder);

			if (is_left(b, word) && take(b, word))
				bench_leave(b);
		}
}

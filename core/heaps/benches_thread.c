/* SPDX-License-Identifier: MIT */
#include "heaps/benches.h"

#include "process.h"

INTERNAL THREAD_LOCAL struct seat_page *seats_open[SEAT_KINDS];
static THREAD_LOCAL struct bench *benches[SEAT_KINDS];

static struct bench *bench_make(unsigned kind)
{
	uint64_t none = 0;
	struct bench *b = bench_take(kind);

	if (b == NULL)
		return NULL;
	/*
	 * A compare-and-swap, because a signal handler may do the same.  No other thread reads the word, so this
	 * acquire pairs with nothing.
	 */
	if (!cas_acquire((uint64_t *)(void *)&benches[kind], &none, (uint64_t)(uintptr_t)b)) {
		bench_leave(b);
		return (struct bench *)(uintptr_t)none;
	}
	if (kind != SEATS_SHARED || process_mark_is_wiped())
		seats_open[kind] = b->page;
	return b;
}

void bench_empty(struct bench *b)
{
	struct seat_entry *e;
	size_t entries, at;
	unsigned i;

	for (i = 0; i < BENCH_PARTS && (e = bench_part(b, i, &entries)) != NULL; i++)
		for (at = 0; at < entries; at++)
			e[at] = (struct seat_entry){0};
	page_forget(b->page);
	bench_keep(b);
	signal_fence();
	process_set_mark(&b->page->mark);
}

struct bench *thread_bench(unsigned kind)
{
	struct bench *b = benches[kind];

	if (unlikely(b == NULL))
		return bench_make(kind);
	if (kind == SEATS_SHARED && unlikely(process_has_forked(&b->page->mark)))
		bench_empty(b);
	return b;
}

struct bench *thread_bench_look(unsigned kind)
{
	return benches[kind];
}

void thread_bench_leave(void)
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

/* Claims an unused entry of the part, by ID_BUSY.  Sets *stop if an interrupted call is claiming an entry. */
static struct seat_entry *part_claim(struct seat_entry *part, size_t entries, uint64_t id,
				     bool *stop)
{
	size_t i;

	for (i = 0; i < BENCH_PROBES; i++) {
		struct seat_entry *e = bench_probe(part, entries, id, i);
		uint64_t there = load_relaxed(&e->id);

		/* The interrupted call may be giving the entry to this heap. */
		if (there == ID_BUSY)
			*stop = true;
		/*
		 * A compare-and-swap, because signal handlers claim entries as well.  The acquire pairs with
		 * part_clear and seats_close, which other threads execute.
		 */
		else if (there == 0 && cas_acq_rel(&e->id, &there, ID_BUSY))
			return e;
		if (*stop)
			break;
	}
	return NULL;
}

/* If there is no memory for another part: claims the entry of a heap that has its record not checked out. */
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

/* Claims an unused entry, by ID_BUSY, or returns NULL if there is no entry. */
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

struct seat_entry *seat_entry_for(struct heap *h)
{
	struct bench *b = thread_bench(seats_kind(h));
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
	e->word = 0;
	signal_fence();
	/* A signal handler may have made an entry for the heap before the claim; there is never a second entry. */
	other = bench_find(b, h->id);
	store_relaxed(&e->id, other == NULL ? h->id : 0);
	return other == NULL ? e : other;
}

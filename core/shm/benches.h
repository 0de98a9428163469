/* SPDX-License-Identifier: MIT */
/*
 * Benches: the pages of seats of all threads of the process.
 *
 *   bench -> bench -> bench      never taken off, never unmapped
 *     |        |        |
 *   page     page      none
 *
 * A thread takes a bench that is nobody's, or that of a thread which ended
 * without a word, and leaves it when it ends; its memory goes back, its
 * addresses stay, since others may be looking at it.
 */
#ifndef CORE_BENCHES_H
#define CORE_BENCHES_H

#include "internal.h"
#include "shm/seats.h"

/* Entries of a bench: SEAT_ENTRIES in the page, twice as many in each part that follows. */
#define BENCH_PARTS 10

struct bench {
	/*
	 *   63 ..... 48 | 47 ...... 22 | 21 .... 0
	 *   takes       | generation   | thread id       no thread: nobody's
	 */
	uint64_t holder;
	uint32_t process; /* of the holder; an older one's: the holder is not judged */
	uint32_t kind;
	struct bench *next;
	struct seat_page *page;			 /* NULL: none yet */
	struct seat_entry *more[BENCH_PARTS - 1]; /* the same, in their order */
};

/* One for the calling thread, empty; NULL: no memory. */
INTERNAL struct bench *bench_take(unsigned kind);
/* After a fork, in the child: it is the calling thread's of this process. */
INTERNAL void bench_keep(struct bench *b);
/* The holder has ended, or is about to: entries and their memory go. */
INTERNAL void bench_leave(struct bench *b);

/* Those whose threads ended are left for them. */
INTERNAL void benches_reap(void);

/* All of a kind. */
INTERNAL struct bench *benches_first(unsigned kind);

/* Part `i`, or NULL, and its number of entries. */
static inline struct seat_entry *bench_part(const struct bench *b, unsigned i, size_t *entries)
{
	struct seat_page *page = load_acquire(&b->page);

	*entries = (size_t)SEAT_ENTRIES << i;
	if (i > 0)
		return load_acquire(&b->more[i - 1]);
	return page == NULL ? NULL : page->entry;
}

/* The i-th of the places to look at for a heap in a part of so many entries. */
#define BENCH_PROBES 4
static inline struct seat_entry *bench_probe(struct seat_entry *part, size_t entries, uint64_t id,
					     size_t i)
{
	return &part[((id >> 1) + i) % entries];
}

/* The heap's entry; NULL: it has none. */
INTERNAL struct seat_entry *bench_find(const struct bench *b, uint64_t id);

/* One more part; false: no memory. */
INTERNAL bool bench_grow(struct bench *b);

/* What stands for an id meanwhile: no heap of this kind has it. */
#define ID_BUSY	   (~(uint64_t)0) /* being given to a heap by its thread, or by a handler */
#define ID_CLOSING (~(uint64_t)1) /* in the hands of seats_close                          */

#endif

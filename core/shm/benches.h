/* SPDX-License-Identifier: MIT */
/*
 * Benches: the pages of seats (seat_page.h) of all threads of the process.
 *
 *   bench -> bench -> bench             never removed, never unmapped
 *     |        |        |
 *   page     page      none             SEAT_ENTRIES entries
 *     |
 *   more parts                          twice as many entries each time
 *
 * A thread takes a vacant bench, or that of a thread which ended without
 * ash_thread_detach, and leaves it when it ends.  Its memory is purged then, unless
 * seats_close is emptying an entry of it, and remains mapped, since others may be reading it.
 */
#ifndef CORE_BENCHES_H
#define CORE_BENCHES_H

#include "shm/seat_page.h"

/* Entries of a bench: SEAT_ENTRIES in the page, twice as many in each part that follows. */
#define BENCH_PARTS 10

struct bench {
	/*
	 *   63 ..... 48 | 47 ...... 22 | 21 .... 0
	 *   takes       | generation   | thread id       no thread: vacant
	 */
	uint64_t holder;
	uint32_t process; /* of the holder; if another one's, the holder is not judged */
	uint32_t kind;
	struct bench *next;
	struct seat_page *page;			 /* NULL: none yet */
	struct seat_entry *more[BENCH_PARTS - 1]; /* further parts, in this order; NULL: none yet */
};

/* An empty bench for the calling thread; NULL: no memory. */
INTERNAL struct bench *bench_take(unsigned kind);
/* After a fork, in the child: records the calling thread of this process as the holder. */
INTERNAL void bench_keep(struct bench *b);
/* The holder has ended, or is about to: empties the bench and purges its memory. */
INTERNAL void bench_leave(struct bench *b);

/* Leaves the benches of all threads that ended. */
INTERNAL void benches_reap(void);

/* The first bench of a kind, see seat_page.h. */
INTERNAL struct bench *benches_first(unsigned kind);

/* Part i, NULL if there is none, and its number of entries. */
static inline struct seat_entry *bench_part(const struct bench *b, unsigned i, size_t *entries)
{
	struct seat_page *page = load_acquire(&b->page);

	*entries = (size_t)SEAT_ENTRIES << i;
	/* Acquire pairs with bench_has_page and bench_grow: the memory is there. */
	if (i > 0)
		return load_acquire(&b->more[i - 1]);
	return page == NULL ? NULL : page->entry;
}

/* The i-th entry to probe for a heap, in a part of so many entries. */
#define BENCH_PROBES 4
static inline struct seat_entry *bench_probe(struct seat_entry *part, size_t entries, uint64_t id,
					     size_t i)
{
	return &part[((id >> 1) + i) % entries];
}

/* The entry of the heap; NULL: there is none. */
INTERNAL struct seat_entry *bench_find(const struct bench *b, uint64_t id);

/* Adds a part; false: no memory. */
INTERNAL bool bench_grow(struct bench *b);

/* Values of seat_entry.id that no heap has. */
#define ID_BUSY	   (~(uint64_t)0) /* its thread, or a signal handler, is giving it to a heap */
#define ID_CLOSING (~(uint64_t)1) /* seats_close is emptying it                              */

#endif

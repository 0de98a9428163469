/* SPDX-License-Identifier: MIT */
/*
 * Benches: the pages of seats of all threads of the process.
 *
 *   bench -> bench -> bench             never removed, never unmapped
 *     |        |        |
 *   page     page     no page           SEAT_ENTRIES entries
 *     |
 *   more parts                          twice as many entries each time
 *
 * A thread takes a vacant bench, or that of a thread which ended without ash_thread_detach, and leaves the bench at
 * the end.  The bench's memory is then purged, unless seats_close is emptying an entry, and remains mapped, because
 * other threads may be reading there.
 *
 * A seat is the place in which a thread keeps its owner record in a heap between calls.  The default heap's seat is a
 * thread-local variable (thread/seat.h).  The seats of other heaps are entries of a page, found by the heap's id.
 *
 *   page   [mark, known | id, seat | id, seat | ...]
 */
#ifndef CORE_BENCHES_H
#define CORE_BENCHES_H

#include "process.h"
#include "thread/owner.h"

struct seat_entry {
	uint64_t id;	     /* of the heap; 0 if the entry is unused                     */
	struct owner *owner; /* like self; NULL while a call has the record checked out   */
	struct owner *self;  /* NULL if there is no record yet, or SEAT_BUSY              */
	uint64_t word;	     /* of shared heaps; 0 in an entry that was just made         */
};
_Static_assert(sizeof(struct seat_entry) == 32, "two to a line");

#define SEAT_ENTRIES 64
#define SEAT_KNOWN   3

struct seat_page {
	uint64_t mark; /* see process.h; unused in the page for private heaps */
	uint64_t known[SEAT_KNOWN]; /* of the store, in the page for shared heaps; the first is 0 until all are set */
	_Alignas(CPU_LINE) struct seat_entry entry[SEAT_ENTRIES];
};
_Static_assert(sizeof(struct seat_page) <= PAGE_LEAST, "one page");

/* Forgets what is known.  Relaxed, because seats_close may read another thread's page. */
static inline void page_forget(struct seat_page *page)
{
	unsigned i;

	store_relaxed(&page->known[0], 0);
	for (i = 1; i < SEAT_KNOWN; i++)
		page->known[i] = 0;
}

/* The kind of a page, and the lowest bit of a heap's id (heap_id). */
enum { SEATS_OF_PROCESS, SEATS_SHARED, SEAT_KINDS };

static inline unsigned seats_kind(const struct heap *h)
{
	return h->id & 1;
}

/* Returns the id of a heap with this number. */
static inline uint64_t heap_id(uint64_t number, unsigned kind)
{
	return number << 1 | kind;
}

/*
 * Checks a record out of an entry.  Returns NULL if the record is already checked out, or is not this heap's.
 *
 * The entry is compared only after the record is taken, because until then a signal handler may give the entry to
 * another heap.  In that case .owner is restored from .self, which is right whatever record was taken or overwritten.
 * The accesses are atomic (relaxed), because seats_close may read the entries of another thread.
 */
static inline struct owner *seat_checkout(struct seat_entry *e, uint64_t id)
{
	struct owner *o = load_relaxed(&e->owner);

	if (unlikely(o == NULL))
		return NULL;
	store_relaxed(&e->owner, (struct owner *)NULL);
	signal_fence(); /* see seat_take */
	if (likely(load_relaxed(&e->id) == id) && likely(load_relaxed(&e->self) == o))
		return o;
	signal_fence();
	store_relaxed(&e->owner, load_relaxed(&e->self));
	return NULL;
}

/* Returns the entry of the page in which the search for a heap begins. */
static inline size_t seat_home(uint64_t id)
{
	return (id >> 1) % SEAT_ENTRIES;
}

/* Entries of a bench: SEAT_ENTRIES in the page, twice as many in each later part. */
#define BENCH_PARTS 10

struct bench {
	uint64_t holder;  /* base/roll.h, of this process alone; 0 if vacant */
	uint64_t note;	  /* process_note of the holder, or 0 if unknown */
	unsigned kind;
	struct bench *next;
	struct seat_page *page;			 /* NULL before the page is made */
	struct seat_entry *more[BENCH_PARTS - 1]; /* further parts, in this order; NULL before they are made */
};

/* Returns an empty bench for the calling thread, or NULL if there is no memory. */
INTERNAL struct bench *bench_take(unsigned kind);
/* After a fork, in the child: makes the calling thread of this process the holder. */
INTERNAL void bench_keep(struct bench *b);
/* Empties and purges the bench, when the holder has ended or is about to end. */
INTERNAL void bench_leave(struct bench *b);

/* Leaves the benches of all threads that ended. */
INTERNAL void benches_reap(void);

/* Returns the first bench of a kind. */
INTERNAL struct bench *benches_first(unsigned kind);

/* Returns part i, or NULL if there is no such part, and its number of entries. */
static inline struct seat_entry *bench_part(const struct bench *b, unsigned i, size_t *entries)
{
	struct seat_page *page = load_acquire(&b->page);

	*entries = (size_t)SEAT_ENTRIES << i;
	/* Acquire pairs with bench_has_page and bench_grow: the memory is there. */
	if (i > 0)
		return load_acquire(&b->more[i - 1]);
	return page == NULL ? NULL : page->entry;
}

/* Returns the i-th entry to probe for a heap, in a part with this number of entries. */
#define BENCH_PROBES 4
static inline struct seat_entry *bench_probe(struct seat_entry *part, size_t entries, uint64_t id,
					     size_t i)
{
	return &part[((id >> 1) + i) % entries];
}

/* Returns the entry of the heap, or NULL if there is no such entry. */
INTERNAL struct seat_entry *bench_find(const struct bench *b, uint64_t id);

/* Adds a part.  Returns false if there is no memory. */
INTERNAL bool bench_grow(struct bench *b);

/* Values of seat_entry.id that no heap has. */
#define ID_BUSY	   (~(uint64_t)0) /* the owning thread, or a signal handler, is giving the entry to a heap */
#define ID_CLOSING (~(uint64_t)1) /* seats_close is emptying the entry                                     */

/* ---- benches_thread.c ---- */

/*
 * The benches of the calling thread: one bench for private heaps, another for heaps shared by processes.
 *
 * fork wipes the page for shared heaps.  So a child never finds its parent's seats, whose records the parent
 * continues to use, and gets seats of its own.
 */

/*
 * The thread's pages, for seats_guess.  NULL if there is no page yet, or if fork does not wipe the page (under an
 * emulator), so that the mark must be read first.
 */
INTERNAL_EXTERN THREAD_LOCAL struct seat_page *seats_open[SEAT_KINDS];

/*
 * Returns the thread's bench of this kind, if necessary after making the bench, or emptying it after a fork.  Returns
 * NULL if there is no memory.
 */
INTERNAL struct bench *thread_bench(unsigned kind);
/* Returns the bench unchanged, or NULL if there is no bench yet. */
INTERNAL struct bench *thread_bench_look(unsigned kind);

/* Leaves the benches when the thread ends.  Records that sit there are left to reap_all. */
INTERNAL void thread_bench_leave(void);

/* Empties the bench that a child of fork has from the parent, because not every kernel wipes the page. */
INTERNAL void bench_empty(struct bench *b);

/*
 * Returns the calling thread's entry for the heap, which is made if necessary; the benches have an entry for each
 * heap that the thread uses.  Returns NULL if there is no memory, or an interrupted call is making an entry.
 */
INTERNAL struct seat_entry *seat_entry_for(struct heap *h);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Benches: the pages of seats of all threads of the process.
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
 *
 * A seat is where a thread keeps its owner record in a heap between its calls; the default heap's is a
 * thread-local variable (thread/seat.h), those of other heaps are entries of a page, found by the
 * heap's id.
 *
 *   page   [mark, lives | id, seat | id, seat | ...]
 */
#ifndef CORE_BENCHES_H
#define CORE_BENCHES_H

#include "process.h"
#include "thread/owner.h"

struct seat_entry {
	uint64_t id;	     /* of the heap; 0: the entry is unused      */
	struct owner *owner; /* as self; NULL: a call has the record checked out */
	struct owner *self;  /* NULL: none yet; or SEAT_BUSY             */
	uint64_t census;     /* the process's tag in the heap (census.h); 0: not known yet */
};
_Static_assert(sizeof(struct seat_entry) == 32, "two to a line");

#define SEAT_ENTRIES 64

struct seat_page {
	uint64_t mark; /* see process.h; of the page for private heaps: unused */
	/* In the page for shared heaps; 0: not known yet. */
	uint64_t life, process; /* of this thread, and of its process */
	uint64_t world;	        /* its namespaces, see world.h; set with life */
	_Alignas(CPU_LINE) struct seat_entry entry[SEAT_ENTRIES];
};
_Static_assert(sizeof(struct seat_page) <= PAGE_LEAST, "one page");

/* The lives are not known any more.  Relaxed, as seats_close may read another thread's page. */
static inline void page_forget(struct seat_page *page)
{
	store_relaxed(&page->life, 0);
	page->process = page->world = 0;
}

/* The kind of a page, and the lowest bit of a heap's id (heap_new_id). */
enum { SEATS_OF_PROCESS, SEATS_SHARED, SEAT_KINDS };

static inline unsigned seats_kind(const struct heap *h)
{
	return h->id & 1;
}

/*
 * Checks a record out of an entry; NULL: it is checked out already, or not this heap's.
 *
 * The entry is compared only after the record is taken, since until then a signal handler
 * may give the entry to another heap.  In that case .owner is restored from .self, which
 * is right whatever record was taken or overwritten.  The accesses are atomic (relaxed) as
 * seats_close may read the entries of another thread.
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

/* The entry of the page in which a heap is searched first. */
static inline size_t seat_home(uint64_t id)
{
	return (id >> 1) % SEAT_ENTRIES;
}

/* Entries of a bench: SEAT_ENTRIES in the page, twice as many in each part that follows. */
#define BENCH_PARTS 10

struct bench {
	uint64_t holder;  /* base/roll.h, of this process alone; 0: vacant */
	uint64_t note;	  /* of the holder, see process_note; 0: unknown */
	unsigned kind;
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

/* The first bench of a kind. */
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

/* ---- benches_thread.c ---- */

/*
 * The benches of the calling thread: one for private heaps, one for heaps shared by
 * processes.
 *
 * fork wipes the page for shared heaps.  So a child never finds its parent's seats, whose
 * records the parent continues to use, and gets its own.
 */

/*
 * The thread's pages, for seats_guess.  NULL: there is none yet, or fork does not wipe it
 * (under an emulator), so that its mark must be read first.
 */
INTERNAL_EXTERN THREAD_LOCAL struct seat_page *seats_open[SEAT_KINDS];

/*
 * The thread's bench of this kind; made, or emptied after a fork, if necessary.  NULL: no
 * memory.
 */
INTERNAL struct bench *thread_bench(unsigned kind);
/* The same as it is; NULL: there is none yet. */
INTERNAL struct bench *thread_bench_look(unsigned kind);

/* The thread ends: leaves its benches.  Records that sit there are left to reap_all. */
INTERNAL void thread_bench_leave(void);

/* In tests: as in a process that was just forked. */
INTERNAL void thread_bench_forget(void);

/*
 * In the benches is an entry for each heap that the thread uses.
 *
 * The calling thread's entry for the heap, made if necessary.  NULL: no memory, or a call
 * that the caller interrupted is making one.
 */
INTERNAL struct seat_entry *seat_entry_for(struct heap *h);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Seats of a thread in heaps that the program made: a page for each thread,
 * one for heaps of this process and one for heaps shared by processes.
 *
 *   page   [mark, lives | id, seat | id, seat | ...]   found by the heap's id
 *   more   [id, seat | ...]  [id, seat | ... ]         twice as many each time
 *
 * The page for shared heaps is wiped by fork.  So a child never finds its
 * parent's seats, whose records the parent goes on to use, and gets its own.
 *
 * The pages of all threads of the process can be found (benches.h): a heap that
 * leaves the process takes all seats in it along.  So a seat is always one in
 * what is attached now, also if another file of the same heap is attached
 * later, at the same address and with the same id.
 */
#ifndef CORE_SEATS_H
#define CORE_SEATS_H

#include "thread/owner.h"

struct seat_entry {
	uint64_t id;	     /* of the heap; 0: empty                    */
	struct owner *owner; /* as self; NULL: a call has it checked out */
	struct owner *self;  /* NULL: none yet; or SEAT_BUSY             */
	uint64_t census;     /* the process's tag in the heap; 0: not asked yet */
};
_Static_assert(sizeof(struct seat_entry) == 32, "two to a line");

#define SEAT_ENTRIES 64

struct seat_page {
	uint64_t mark; /* see process.h */
	/* In the page for shared heaps, 0: not asked yet. */
	uint64_t life, process; /* of this thread, and of its process */
	uint64_t world;	        /* known with life */
	_Alignas(CPU_LINE) struct seat_entry entry[SEAT_ENTRIES];
};
_Static_assert(sizeof(struct seat_page) <= PAGE_SIZE, "one page");

/* Also the lowest bit of a heap's id (heap_new_id). */
enum { SEATS_OF_PROCESS, SEATS_SHARED, SEAT_KINDS };

static inline unsigned seats_kind(const struct heap *h)
{
	return h->id & 1;
}

/*
 * The thread's pages for seats_guess.  NULL: none yet, or one that fork does
 * not wipe here (an emulator), which must be looked at first.
 */
#ifdef ASHLAR_SINGLE_THREAD
extern INTERNAL struct seat_page *seats_open[SEAT_KINDS];
#else
extern INTERNAL _Thread_local struct seat_page *seats_open[SEAT_KINDS];
#endif

/*
 * Checks a record out of an entry; NULL: it is not there, or not this heap's.
 *
 * First it is taken, then looked at: until it is taken, a handler may give the
 * entry to another heap.  What we then took, or overwrote, is what .self says:
 * so that goes back.  Relaxed: seats_close may look at another thread's.
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

static inline size_t seat_home(uint64_t id)
{
	return (id >> 1) % SEAT_ENTRIES;
}

/* As seats_take, where that costs no call; NULL: ask seats_take. */
static inline struct owner *seats_guess(const struct heap *h, struct seat_entry **t)
{
	struct seat_page *page = seats_open[h->id & 1];
	struct seat_entry *e;

	if (unlikely(page == NULL))
		return NULL;
	e = &page->entry[seat_home(h->id)];
	*t = e;
	return seat_checkout(e, h->id);
}

/*
 * Checks the thread's record out of its seat, *t; NULL: no memory, no place, or
 * an interrupted call: the unowned slabs.
 */
struct owner *seats_take(struct heap *h, struct seat_entry **t);

static inline void seats_give(struct seat_entry *t, struct owner *o)
{
	signal_fence(); /* see seat_open */
	store_relaxed(&t->owner, o);
}

/* The seat, whose record was checked out and left, is for any heap again. */
void seats_leave(struct seat_entry *t);

/*
 * The lives of the calling thread and of its process, for words of a shared
 * heap; see life.h.  0: nobody who looks at this heap could judge it, as the
 * caller is in other namespaces than those who made the heap; of the process
 * also in a child of vfork, which has no memory of its own.
 */
uint64_t seats_life(struct heap *h);
uint64_t seats_process(struct heap *h);

/* Where to keep the process's tag in this heap; NULL: nowhere. */
uint64_t *seats_census(struct heap *h);

/* The thread's pages are others' from now on; records that sit there wait for reap_all. */
void seats_end(void);

/*
 * The heap leaves the process: no thread of it is in a call on the heap, and
 * none has a seat there any more.  Shared: also their records are vacated.
 */
void seats_close(struct heap *h);

/* Pages of threads that ended without a word are given back. */
void seats_reap(void);

/* The record of the calling thread, also when it is checked out; NULL: none. */
struct owner *seats_self(struct heap *h);

/* In tests: as in a process that was just forked. */
void seats_forget(void);

#endif

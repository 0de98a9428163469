/* SPDX-License-Identifier: MIT */
/*
 * A page of seats.  A seat is where a thread keeps its owner record in a heap between its
 * calls; the default heap's is a thread-local variable (thread/seat.h), those of
 * other heaps are entries of a page, found by the heap's id.
 *
 *   page   [mark, lives | id, seat | id, seat | ...]
 */
#ifndef CORE_SEAT_PAGE_H
#define CORE_SEAT_PAGE_H

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

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Owners: one record for each live thread, with a bin for each class.
 *
 *   seat (TLS)          .self ----> owner ----> bins[class]
 *     .owner: the same, or NULL while one of the thread's calls is at work
 *
 *   bin:  word ---> free word of the current group of the current slab
 *         partial   slabs with free slots
 *         exhausted slabs without, until something is released into them
 *
 * Checking out.  A call takes seat.owner, sets it NULL, and puts it back at
 * its end: two plain stores.  A signal handler that interrupts it, or a child
 * forked from there, finds NULL with .self set and takes the shared route
 * (shared.h), which uses atomic operations only.  So the owner's structures
 * need none.
 *
 * The inbox.  A thread that releases into another owner's slab sets the
 * slab's pending mark and, if it was not set, leaves the slab's address in
 * the owner's inbox; if that is full, it marks the class.  Inbox and marks
 * are hints: what they lose is found by owner_collect_all.
 *
 * A thread that ends leaves its record vacant; the next thread takes it over
 * with all its slabs.  Until then any thread may hold it for a moment, as a
 * guest, to collect what was released into it.
 */
#ifndef CORE_OWNER_H
#define CORE_OWNER_H

#include "slab.h"

#define INBOX_SLOTS 32
/*
 * Spares: slabs that got empty a short while ago and are kept, so that a
 * program which goes to and fro over the border of a slab pays nothing for
 * it.  They stay where they are, current or on their shelf.
 */
#define SPARES	    8
#define SPARE_UNITS 16 /* in all, but for one that is larger by itself */
#define SPARE_FREE  ((size_t)1024) /* current slabs of blocks up to here need no spare's place */

struct bin {
	uint64_t *word; /* never NULL: a word of 0 when there is no current slab */
	char *base;	/* of the group's first slot                             */
	size_t size;
	struct slab *slab; /* current; NULL: none                                */
};

struct slabs { /* a list through next and previous */
	struct slab *head, *tail;
};

struct shelf { /* what a bin needs on its slow path */
	struct slabs partial, exhausted;
};

/*
 * The state of a record: vacant, or its holder.
 *
 *   63 .......... 24 | 23 ......... 2 |   1   |  0
 *   stamp            | thread id      | guest | held
 *
 *   stamp   tells lives of one thread id apart: in a heap of one process the
 *           generation (fork.h), in a heap shared by processes the thread's
 *           birth
 *   guest   held for a moment only, by a thread that sits elsewhere
 */
#define OWNER_VACANT	  ((uint64_t)0)
#define OWNER_HELD	  ((uint64_t)1)
#define OWNER_GUEST	  ((uint64_t)2)
#define OWNER_THREAD	  2
#define OWNER_THREAD_MASK (((uint64_t)1 << 22) - 1)
#define OWNER_STAMP	  24

struct owner {
	struct owner *next; /* in heap.owners; never changes once set */
	struct heap *heap;
	/*
	 * The word of bins without a slab: 0, for ever.  In the record, so that in a
	 * heap in a file it means the same to every program.
	 */
	uint64_t no_slots;
	/* The owner's. */
	unsigned spare_count;
	uint32_t looked;  /* slabs, by the last owner_collect_all; bin_refill:  */
	uint32_t grown;	  /* times that the heap had to grow since              */
	uint32_t delayed; /* releases that found a pending mark, see release_slow */
	bool no_spares;	  /* no thread, or the shelves are being walked: nothing is kept */
	/* Written by other threads. */
	_Alignas(CPU_LINE) uint64_t state;
	uint64_t marked[2];	      /* classes whose pending slabs the inbox lost */
	uint64_t inbox[INBOX_SLOTS];  /* struct slab *, 0: empty                    */
	/* Written by the owner. */
	_Alignas(CPU_LINE) struct bin bins[CLASSES];
	struct shelf shelves[CLASSES];
	struct slab *spares[SPARES]; /* oldest first */
	/* In heaps shared by processes, see recover.h: */
	uint64_t building; /* odd: the holder is changing more than slots               */
	uint64_t flight;   /* address of the slot being given out or taken back         */
	uint64_t census;   /* the process, in the heap's census                         */
};

struct seat {
	struct owner *owner;
	struct owner *self;
	/* Not 0: a frame of this thread holds a record that is not in its seat. */
	unsigned guest;
};

/* While a thread gets its first record, its handlers must not get another. */
#define SEAT_BUSY ((struct owner *)1)

#ifdef ASH_SINGLE_THREAD
extern INTERNAL struct seat seat;
#else
extern INTERNAL _Thread_local struct seat seat;
#endif

/* The same for a seat that has nothing to check out; NULL: interrupted call, or no memory. */
struct owner *seat_fill(struct seat *t, struct heap *h);
/* The seat's owner is given up, with all it holds. */
void seat_leave(struct seat *t);

/* Checks the thread's owner out; NULL: interrupted call, or no memory. */
struct owner *seat_slow(void);

static inline struct owner *seat_take(void)
{
	struct owner *o = seat.owner;

	if (unlikely(o == NULL))
		return seat_slow();
	seat.owner = NULL;
	signal_fence(); /* the handler must see NULL before we touch a word */
	return o;
}

static inline void seat_give(struct owner *o)
{
	signal_fence(); /* and must see all we wrote once it sees the owner */
	seat.owner = o;
}

/* ---- for the holder of the record ---- */

/* A slot of the class; NULL: no memory.  clean: it is known to read zero. */
void *owner_slot(struct owner *o, unsigned class, bool *clean);

/* After a slot of an exhausted slab, or the last one of a group, was freed. */
void owner_settle(struct owner *o, struct slab *s, bool was_exhausted);

/* Spares down to so many units; what is still empty goes back to the heap. */
void spares_keep(struct owner *o, unsigned units);
/* The slab is in use again, or has another place: no spare any more. */
void spares_forget(struct owner *o, struct slab *s);
/* The slab is empty: keeps it, at the cost of older ones, or gives it back. */
void spares_add(struct owner *o, struct slab *s);

/* A slot of the group was freed, `word` is what its word becomes: with all that may follow. */
void owner_freed(struct owner *o, struct slab *s, uint64_t group, uint64_t word);

/* Collects what others released: into one slab, what the inbox tells, or everything. */
void owner_collect_slab(struct owner *o, struct slab *s);
void owner_collect(struct owner *o);
void owner_collect_all(struct owner *o);

/* Gives back every slab that is empty. */
void owner_shrink(struct owner *o);

/* Both, for a record that is about to be left. */
void owner_rest(struct owner *o);

/* ---- for anybody ---- */

/* Tells the owner (a slab's owner word) that the slab has remote bits. */
void owner_notify(uint64_t owner, struct slab *s);

/* If the record is vacant: collects and shrinks it, as a guest. */
void owner_visit(struct owner *o);

/* Takes slabs of the class with free slots from vacant records; `all`: looks into every slab. */
bool owner_adopt(struct owner *o, unsigned class, bool all);

/* True: the address lies in an owner record. */
bool owner_holds(struct heap *h, const void *p);

/* True: the slab is this owner's. */
static inline bool owner_has(const struct owner *o, const struct slab *s)
{
	return (load_relaxed(&s->owner) & ~OWNER_PENDING) == (uint64_t)(uintptr_t)o;
}

/*
 * False: the thread id in its state may be one of before a fork.  The first
 * record (the last of the list) is held before there is a mark to tell; a
 * kernel without marks is told by the heap.
 */
static inline bool owner_is_marked(const struct owner *o)
{
	return o->next != NULL && load_relaxed(&o->heap->mark) != NULL;
}

/* Forgets all slabs, spares and mail; the bitmaps know better. */
void owner_reset(struct owner *o);

/* A record that is set up, in this state, becomes one of the heap's. */
void owner_enter(struct heap *h, struct owner *o, uint64_t state);

/* Vacant record -> held by a guest. */
bool owner_hold(struct owner *o);
void owner_vacate(struct owner *o);

#define OWNER_BYTES ((sizeof(struct owner) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))

/* ---- slabs of an owner (bin.c) ---- */

/* Finds the bin a free slot, from the cheapest source to the dearest. */
bool bin_refill(struct owner *o, unsigned class);

void slabs_append(struct slabs *l, struct slab *s);
void slabs_remove(struct slabs *l, struct slab *s);
void bins_init(struct owner *o);
/* A large block was released: a slow operation.  Lets all bins go if keep_tick says so. */
void bins_hurry(void);
/* The bin lets go of its current slab, wherever that belongs now. */
void bin_rest(struct owner *o, unsigned class);

#endif

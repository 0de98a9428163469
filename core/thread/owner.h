/* SPDX-License-Identifier: MIT */
/*
 * Owners: one record for each live thread, with a bin for each class.
 *
 *   seat (TLS)          .self ----> owner ----> bins[class]
 *     .open: ~0, or 0 while one of the thread's calls is at work
 *
 *   bin:  word ---> free word of the current group of the current slab
 *         partial   slabs with free slots
 *         full slabs without, until something is released into them
 *
 * Checking out.  A call reads seat.open, sets it 0, and ~0 again at its end:
 * two plain stores.  A signal handler that interrupts it, or a child forked
 * from there, finds 0 and takes the unowned slabs (shared.h), which uses atomic
 * operations only.  So the owner's structures need none.
 *
 * ash_alloc tests neither for a closed seat nor for an empty word, but adds
 * the two: ~0 + word is word - 1 with a carry, and there is none when either
 * is 0.  A thread without a record has the seat of `owner_none`, whose bytes are
 * all 0: bins that lead to a word of 0.
 *
 * The inbox.  A thread that releases into another owner's slab sets the
 * slab's pending mark and, if it was not set, leaves the slab's address in
 * the owner's inbox; if that is full, it marks the class.  Inbox and marks
 * are hints: what they lose is found by owner_collect_all.
 *
 * A thread that ends leaves its record vacant; the next thread takes it over
 * with all its slabs.  Until then who frees the last slot of a group holds it
 * for a moment, as a guest, to collect what was released into it.
 */
#ifndef CORE_OWNER_H
#define CORE_OWNER_H

#include "slab/slab.h"

#define INBOX_SLABS 32
#define INBOX_CLASSES 2
#define INBOX_WORDS	    (INBOX_CLASSES + INBOX_SLABS)
/*
 * Spares: slabs that got empty a short while ago and are kept, so that a
 * program which goes to and fro over the border of a slab pays nothing for
 * it.  They stay where they are, current or on their list.
 */
#define SPARES	    8
#define SPARE_UNITS 16 /* in all, but for one that is larger by itself */
#define SPARE_FREE  ((size_t)1024) /* current slabs of blocks up to here need no spare's place */

#define LARGE_CACHE 8 /* see whole.c */

enum { WATCH_NONE, WATCH_ALL, WATCH_TOLD }; /* see watch.h */

struct bin {
	uintptr_t word; /* less the owner's address: see bin_word; 0: a word of 0 */
	char *base;	/* of the group's first slot                              */
	size_t size;	/* of a slot; set with the slab                           */
	struct slab *slab; /* current; NULL: none                                */
};

#define BIN_STEP (sizeof(struct bin) / CLASS_SMALL)
_Static_assert(BIN_STEP == 8, "a factor that an address can have");

struct slabs { /* a list through next and previous */
	struct slab *head, *tail;
};

struct slab_lists { /* what a bin needs on its slow path */
	struct slabs partial, full;
};

/* A record's state: vacant, or its holder, see holder.h. */
#define OWNER_VACANT ((uint64_t)0)
#define OWNER_HELD   ((uint64_t)1)
#define OWNER_GUEST  ((uint64_t)2)
#define OWNER_THREAD 2 /* where the rest begins */

struct owner {
	uint64_t no_slots;  /* the word of bins without a slab: 0, for ever */
	struct owner *next; /* in heap.owners; never changes once set */
	struct heap *heap;
	/* The owner's. */
	uint32_t slabs_seen;  /* slabs, by the last owner_collect_all; bin_refill:  */
	uint32_t growths; /* times that the heap had to grow since              */
	uint8_t spare_count;
	bool no_spares;	  /* no thread, or the lists are being walked: nothing is kept */
	uint8_t watch;	  /* see watch.h; others write it, too                           */
	uint16_t events, strays; /* releases that were events while it was watched       */
	uint16_t pending_releases; /* releases that found a pending mark, see release_marked      */
	uint64_t identity; /* the holder's, to the kernel; 0: unknown, see identity.h */
	uint64_t gather;   /* of the batch that takes it over, see takeover.h         */
	/* Written by other threads. */
	_Alignas(CPU_LINE) uint64_t state; /* vacant, or its holder */
	union {
		uint64_t inbox[INBOX_WORDS];
		struct {
			uint64_t pending_classes[INBOX_CLASSES]; /* classes whose pending slabs the inbox lost */
			uint64_t pending_slabs[INBOX_SLABS];  /* struct slab *, 0: empty                    */
		};
	};
	/* Written by the owner. */
	_Alignas(CPU_LINE) struct bin bins[CLASSES];
	struct slab_lists lists[CLASSES];
	struct slab *spares[SPARES]; /* oldest first */
	/* Of slabs of one slot, by their units; only where there is malloc, see whole.c: */
	struct slab *cached[LARGE_CACHE];
	uint32_t cached_units, cached_next;
	/* In heaps shared by processes, see recover.h: */
	uint64_t building; /* odd: the holder is changing more than slots               */
	uint64_t flight;   /* address of the slot being given out or taken back         */
	uint64_t census;   /* the process, in the heap's census                         */
};

struct seat {
	uint64_t open;	      /* ~0: self may be taken; 0: it is taken, or none    */
	struct owner *self;   /* never NULL                                        */
	struct owner *record; /* the same, NULL or SEAT_BUSY                       */
	/* Not 0: a frame of this thread holds a record that is not in its seat. */
	unsigned guest;
	void *latest; /* what malloc's free took last, see quick_predicted         */
	uint64_t drawn; /* the thread's number, see holder.c; 0: none yet          */
};

/* While a thread gets a first record, its handlers must not get another. */
#define SEAT_BUSY ((struct owner *)1)

#define SEAT_OPEN (~(uint64_t)0)

/* Before it is relocated, a shared object finds a seat of zeros (early.h). */
#ifdef ASHLAR_SO
#define SEAT_MAY_BE_NULL true
#else
#define SEAT_MAY_BE_NULL false
#endif

/*
 * Two records that cost no system call: the first thread's, and the one that stands for
 * "none" in the seat of a thread without a record.  Nobody writes to the second: it has
 * no bit to clear.  So it comes last: what a small program writes of the first shares a
 * page with its other data.
 */
INTERNAL_EXTERN struct owner owner_static[2];
#define owner_first (&owner_static[0])
#define owner_none  (&owner_static[1])

INTERNAL_EXTERN THREAD_LOCAL struct seat seat;

/* A record of the heap for a thread without one, checked out; NULL: interrupted call, or no memory. */
INTERNAL struct owner *seat_fill(struct owner **self, struct heap *h);

/* Checks the thread's owner out; NULL: interrupted call, or no memory. */
INTERNAL struct owner *seat_slow(void);

static inline struct owner *seat_take(void)
{
	if (unlikely(seat.open == 0))
		return seat_slow();
	seat.open = 0;
	signal_fence(); /* the handler must see 0 before we touch a word */
	return seat.self;
}

static inline void seat_give(void)
{
	signal_fence(); /* and must see all we wrote once it sees the seat open */
	seat.open = SEAT_OPEN;
}

/* The bin that an entry of class_small means. */
static inline struct bin *bin_small(struct owner *o, unsigned small)
{
	return (struct bin *)(void *)((char *)o->bins + small * BIN_STEP);
}

/* The free word of the bin's group. */
static inline uint64_t *bin_word(const struct owner *o, const struct bin *b)
{
	return (uint64_t *)((uintptr_t)o + b->word);
}

/* ---- for the holder of the record ---- */

/* The lowest slot of the bin's group; NULL: it has none left.  clean: as owner_slot. */
static ALWAYS_INLINE void *bin_slot(struct owner *o, const struct bin *b, bool *clean)
{
	uint64_t *at = bin_word(o, b), word = load_relaxed(at);
	char *p;

	if (unlikely(word == 0))
		return NULL;
	*clean = ((b->slab->dirty >> (at - b->slab->free)) & 1) == 0;
	p = b->base + cpu_lowest_bit(word) * b->size;
	store_relaxed(at, bits_without_lowest(word));
	if (p == NULL)
		__builtin_unreachable(); /* or callers ask for it again */
	return p;
}

/* A slot of the class; NULL: no memory.  clean: it is known to read zero. */
INTERNAL void *owner_slot(struct owner *o, unsigned class, bool *clean);

/* After a slot of an full slab, or the last one of a group, was freed. */
INTERNAL void owner_settle(struct owner *o, struct slab *s, bool was_full);

/* Spares down to so many units; what is still empty goes back to the heap. */
INTERNAL void spares_keep(struct owner *o, unsigned units);
/* The slab is in use again, or has another place: no spare any more. */
INTERNAL void spares_forget(struct owner *o, struct slab *s);
/* The slab is empty: keeps it, at the cost of older ones, or gives it back. */
INTERNAL void spares_add(struct owner *o, struct slab *s);

/* A slot of the group was freed, `word` is what its word becomes: with all that may follow. */
INTERNAL void owner_freed(struct owner *o, struct slab *s, uint64_t group, uint64_t word);

/* Collects what others released (inbox.c): into one slab, what the inbox tells, or everything. */
INTERNAL void owner_collect_slab(struct owner *o, struct slab *s);
INTERNAL void owner_collect(struct owner *o);
INTERNAL void owner_collect_all(struct owner *o);

/* Gives back every slab that is empty; all bins rest. */
INTERNAL void owner_shrink(struct owner *o);

/* The same for all vacant records, as vanished threads may have left them, once all is collected. */
INTERNAL void owner_shrink_vacant(struct heap *h);

/* Both, for a record that is about to be left. */
INTERNAL void owner_rest(struct owner *o);

/* ---- for anybody ---- */

/* Tells the owner that the slab has remote bits (inbox.c). */
INTERNAL void owner_notify(struct owner *o, struct slab *s);

/* If the record is vacant and has inbox: collects, as a guest (inbox.c). */
INTERNAL void owner_visit(struct owner *o);

/* Takes slabs of the class with free slots from vacant records; `all`: looks into every slab. */
INTERNAL bool owner_adopt(struct owner *o, unsigned class, bool all);

/* True: the address lies in an owner record. */
INTERNAL bool owner_holds(struct heap *h, const void *p);

/* True: the slab is this owner's. */
static inline bool owner_has(const struct owner *o, const struct slab *s)
{
	return (load_relaxed(&s->owner) & ~OWNER_PENDING) == (uint64_t)(uintptr_t)o;
}

/* Forgets all slabs, spares and inbox; the bitmaps know better. */
INTERNAL void owner_reset(struct owner *o);

/* A record that is set up, in this state, becomes one of the heap's. */
INTERNAL void owner_enter(struct heap *h, struct owner *o, uint64_t state);

/* Vacant record -> held by a guest. */
INTERNAL bool owner_hold(struct owner *o);
INTERNAL void owner_vacate(struct owner *o);

#define OWNER_BYTES ((sizeof(struct owner) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))

/* ---- slabs of an owner (bin.c) ---- */

/* Finds the bin a free slot, from the cheapest source to the dearest. */
INTERNAL bool bin_refill(struct owner *o, unsigned class);

INTERNAL void slabs_append(struct slabs *l, struct slab *s);
INTERNAL void slabs_remove(struct slabs *l, struct slab *s);
/* The calling thread released large memory of the default heap, or shrank it: a slow operation. */
INTERNAL void owner_ticks(void);
/* The bin lets go of its current slab, wherever that belongs now. */
INTERNAL void bin_rest(struct owner *o, unsigned class);

#endif

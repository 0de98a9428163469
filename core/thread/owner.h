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
 * from there, finds 0 and takes the unowned slabs (unowned.h), which uses atomic
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

#include "base/holder_word.h"
#include "slab/slab.h"
#include "thread/slab_list.h"

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

#define LARGE_CACHE 8 /* see large.h */

enum { WATCH_NONE, WATCH_ALL, WATCH_TOLD }; /* see watch.h */

struct bin {
	uintptr_t word; /* less the owner's address: see bin_word; 0: a word of 0 */
	char *base;	/* of the group's first slot                              */
	size_t size;	/* of a slot; set with the slab                           */
	struct slab *slab; /* current; NULL: none                                */
};

#define BIN_STEP (sizeof(struct bin) / CLASS_SMALL)
_Static_assert(BIN_STEP == 8, "a factor that an address can have");

struct slab_lists { /* what a bin needs on its slow path */
	struct slabs partial, full;
};

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
	/* Of slabs of one slot, by their units; only where there is malloc, see large.h: */
	struct slab *cached[LARGE_CACHE];
	uint32_t cached_units, cached_next;
	/* In heaps shared by processes, see recover.h: */
	uint64_t building; /* odd: the holder is changing more than slots               */
	uint64_t flight;   /* address of the slot being given out or taken back         */
	uint64_t census;   /* the process, in the heap's census                         */
};

/*
 * Two records that cost no system call: the first thread's, and the one that stands for
 * "none" in the seat of a thread without a record.  Nobody writes to the second: it has
 * no bit to clear.  So it comes last: what a small program writes of the first shares a
 * page with its other data.
 */
extern INTERNAL struct owner owner_static[2];
#define owner_first (&owner_static[0])
#define owner_none  (&owner_static[1])

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

/* Where an empty slab of this many units is cached: one place each, the last for all larger ones. */
static inline unsigned large_place(unsigned units)
{
	return units < LARGE_CACHE ? units - 1 : LARGE_CACHE - 1;
}

static inline bool large_is_cached(const struct owner *o, const struct slab *s)
{
	return o->cached[large_place(s->units)] == s;
}

/* True: the slab is this owner's. */
static inline bool owner_has(const struct owner *o, const struct slab *s)
{
	return (load_relaxed(&s->owner) & ~OWNER_PENDING) == (uint64_t)(uintptr_t)o;
}

/* True: the address lies in an owner record. */
bool owner_holds(struct heap *h, const void *p);

/* Forgets all slabs, spares and inbox; the bitmaps know better. */
void owner_reset(struct owner *o);

/* A record that is set up, in this state, becomes one of the heap's. */
void owner_enter(struct heap *h, struct owner *o, uint64_t state);

#define OWNER_BYTES ((sizeof(struct owner) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))

#endif

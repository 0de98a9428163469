/* SPDX-License-Identifier: MIT */
/*
 * The owner record: what one thread allocates from and releases into.  It has a bin for
 * each size class with the lists of the slabs that it owns, its spares, and an inbox: one page,
 * unless blocks above 30 KiB are in use.
 *
 *   seat (TLS)  .self ----> owner ----> bins[class]
 *
 *   bin:    slab      the current one, which slots are taken from
 *           partial   other slabs that have free slots, the longest waiting first
 *
 * A slab without a free slot is on no list until a slot of it is released.  To find all slabs of a
 * record one walks over the chunks (slab/look.h).
 *
 * One thread at a time, its holder (seat.h), changes a record, and does so in one call at
 * a time (seat.h).  So the record needs no atomic instructions, except for the state and the
 * inbox (settle.h), which other threads write, too.
 *
 * A thread that ends leaves its record vacant; the next thread that starts takes it over
 * with all its slabs.  While the record is vacant, a thread that releases the last taken
 * slot of a group holds it temporarily, as a guest, and collects remote bits (settle.h).
 */
#ifndef CORE_OWNER_H
#define CORE_OWNER_H

#include "ashlar_descriptor.h"
#include "backend/map.h"
#include "base/layout.h"
#include "base/roll.h"
#include "base/version.h"
#include "chance.h"
#include "internal.h"
#include "life.h"
#include "slab/slab.h"

/*
 * Doubly linked lists of slabs.  The tail's `next` is NULL, the head's `previous` is the tail, so
 * that a list is one word.  A slab is on one list at most.  For the holder of the record that
 * the list belongs to.
 */
struct slabs {
	struct slab *head;
};

/* The tail; NULL: the list is empty. */
static inline struct slab *slabs_tail(const struct slabs *l)
{
	return l->head == NULL ? NULL : l->head->previous;
}

/* Adds a slab that is on no list, at the tail. */
INTERNAL void slabs_append(struct slabs *l, struct slab *s);
INTERNAL void slabs_remove(struct slabs *l, struct slab *s);

/* Words of the inbox, see settle.h. */
#define INBOX_SLABS 32

/*
 * Spares: slabs that became empty recently and are cached, so that a program whose number
 * of blocks varies around a multiple of a slab does not make and unmake slabs all the
 * time.  A spare remains current or on its list; owner.spares only marks it.
 *
 *   spares   [s][ ][s][s][ ][ ]...[ ][s]    a place each, filled in turn, around
 *                        ^ spare_next       behind it: the oldest one
 *   large    by units: places of those that large_take may take at once
 *
 * All spares together weigh at most SPARE_UNITS, so there are at most eight; a single one may
 * weigh more.  In a heap with SPARE_FROM units in use the limit is SPARE_MOST, an
 * eighth of these units or less; and while what is due is purged (heap.hand), in any heap.
 * Above, each record may have a SPARE_SHARE of what is in use, or a part of that by their number.
 */
#define SPARES	    24
#define SPARE_UNITS 16
#define SPARE_MOST  64
#define SPARE_FROM  512 /* 16 MiB */
#define SPARE_SHARE 32
/* In units; one of a single unit weighs as much as one of two. */
#define SPARE_WEIGHT(units) ((units) + ((units) == 1))
/* Units of a large slab, and 0 and 1. */
#define SPARE_COUNTS (SLOT_MAX / UNIT_SIZE + 1)
/*
 * A current slab of slots up to SPARE_FREE may become empty without being made a spare: so a class that
 * is used alone causes no events.  But not in a heap of more than CROWD records, where all that threads
 * keep adds up: there each such slab becomes a spare, and the limit is half of SPARE_UNITS.
 */
#define SPARE_FREE ((size_t)1024)
#define CROWD      16
static inline bool is_crowd(const struct heap *h)
{
	return load_relaxed(&h->owner_count) > CROWD;
}

struct bin {
	uintptr_t slab;	      /* the current slab's distance from the owner, see bin_slab; 0: none */
	struct slabs partial; /* slabs that have free slots and are not current                  */
	uint64_t slabs;	      /* all of the class, also those that are full                      */
};

#define BIN_STEP (sizeof(struct bin) / CLASS_SMALL)
_Static_assert(BIN_STEP == 8, "must be a legal x86 scale factor");

/* Of the hardened products, for the holder.  A takeover leaves it as it is. */
struct hardened {
	struct quarantine *quarantine; /* front/guarded.c; NULL: not used yet */
	struct chances chances;	       /* see chance.h */
};

/* Releases all that is in the thread's quarantine; above this room, as it releases (front/guarded.c). */
HARDENED void quarantine_empty(void);
/* The same, and all that is in those of vacant records, also of threads that are found to have ended. */
HARDENED void quarantines_empty(void);

struct owner;
/* Reports the misuse if a block in the record's quarantine was written, where it may rest for long.  For the holder. */
HARDENED void quarantine_compare(const struct owner *o, unsigned class);

struct owner {
	/* Written by the holder, often. */
	uint64_t turn;	     /* chunks that were looked at, see shrink_turn      */
	uint8_t lost;	     /* so many times a walk is to end, because the inbox was full, see collect_lost */
	uint8_t spare_next;  /* the place of the next spare                      */
	bool no_spares;	     /* no holder, or all slabs are being visited: nothing is cached */
	bool watched;	     /* see bin.h                                        */
	uint8_t pending_releases; /* see release_pending in remote.c             */
	uint8_t steps;	     /* see owner_is_counted                             */
	uint8_t ticks;	     /* see owner_count                                  */
	uint8_t opened;	     /* units that were full, see hand_opened            */
	uint16_t spare_units; /* the weight of all spares                        */
	uint64_t building;   /* odd: the holder is changing more than slots, see owner_begin */
	/* Read by other threads, at each release of theirs; written when the holder changes. */
	_Alignas(CPU_LINE) uint64_t no_slots; /* always 0: slab.ready, for a bin without a slab */
	uint64_t state;	     /* vacant, or the holder: base/roll.h               */
	struct owner *next;  /* in heap.owners; never changes once set           */
	struct heap *heap;
	uint64_t identity;   /* process_note of the holder, or its ids (holder_note); 0: unknown */
	uint64_t batch; /* of records being taken over; 0: none, see seating.h */
	struct hardened hardened[IS_HARDENED]; /* none, or one: ISO C has no array of 0, clang and gcc do */
	/* Written by other threads. */
	_Alignas(CPU_LINE) uint64_t notified; /* flags INBOX_..., see settle.h; not 0: collect */
	uint64_t inbox[INBOX_SLABS]; /* struct slab *, or 0 */
	/* Written by the holder. */
	_Alignas(CPU_LINE) struct slab *spares[SPARES]; /* NULL: none */
	struct bin bins[CLASSES];
	uint32_t large[SPARE_COUNTS]; /* by units; bit i: spares[i - 1] is such a large slab, not ready */
};

_Static_assert(sizeof(struct owner) <= 2 * 4096, "two of the smallest pages");
_Static_assert(SPARES < 32, "places from 1 on");
_Static_assert(offsetof(struct owner, no_slots) == offsetof(struct slab, ready), "bin_slab");

/*
 * Two records that need no system call: the first thread's, and owner_none, to which the
 * seat of a thread without a record points.  owner_none is never written, since its bins have no
 * slab.  It comes last, so that the part of owner_first that a small program
 * writes shares a page with the program's other data.
 */
struct owner_static {
	struct owner first;
	uint64_t none[offsetof(struct owner, large) / sizeof(uint64_t)]; /* what is read of it */
};
INTERNAL_EXTERN struct owner_static owner_static;
#define owner_first (&owner_static.first)
#define owner_none  ((struct owner *)(void *)owner_static.none)

/*
 * Between the two the holder may change bins, lists and slabs.  Elsewhere it only takes and
 * frees slots, each by one store.  So a thread that takes the record over finds all of it right
 * unless `building` is odd (seating.h).  In a child of fork too: it has what the vanished
 * thread wrote up to some instruction, in program order.  For heaps shared by processes, whose
 * readers work meanwhile, see store/recover/building.h.
 */
static inline void owner_begin(struct owner *o)
{
	store_relaxed(&o->building, 1);
	signal_fence();
}

static inline void owner_end(struct owner *o)
{
	signal_fence();
	store_relaxed(&o->building, 0);
}

/* True once in 64 calls: then a step from slab to slab counts on the clock, though it is a short way. */
static inline bool owner_is_counted(struct owner *o)
{
	return ++o->steps % 64 == 0;
}

/* The bin of a small class, by its entry in class_small. */
static inline struct bin *bin_small(struct owner *o, unsigned small)
{
	return (struct bin *)(void *)(CPU_KEEP((char *)o + small * BIN_STEP) +
				      offsetof(struct owner, bins));
}

/* The bin's current slab; if there is none, the record itself, which looks like a slab without a free slot. */
static ALWAYS_INLINE struct slab *bin_slab(const struct owner *o, const struct bin *b)
{
	return (struct slab *)((uintptr_t)o + b->slab);
}

/* True: the slab is current. */
static inline bool bin_has(const struct owner *o, const struct slab *s)
{
	return bin_slab(o, &o->bins[s->class]) == s;
}

/* The record that the slab belongs to; NULL: it has none.  For any thread; a hint unless the caller holds it. */
static inline struct owner *slab_owner(const struct slab *s)
{
	uint64_t owner = load_acquire(&s->owner); /* pairs with slab_open: the slab's members are seen */

	return owner > OWNER_FLAGS ? (struct owner *)(uintptr_t)(owner & ~OWNER_PENDING) : NULL;
}

/* True: the slab belongs to this record.  For any thread; a hint unless the caller holds it. */
static inline bool owner_has(const struct owner *o, const struct slab *s)
{
	return (load_relaxed(&s->owner) & ~OWNER_PENDING) == (uint64_t)(uintptr_t)o;
}

/* True: the address lies in an owner record of the heap.  For any thread. */
INTERNAL bool owner_contains(struct heap *h, const void *p);

/*
 * Empties bins, lists, caches and inbox.  For the holder, which then finds the slabs of the
 * record again by a walk over the heap.
 */
INTERNAL void owner_reset(struct owner *o);

/* Adds a record, all 0 or reset, to heap.owners in this state; from then on all threads see it. */
INTERNAL void owner_publish(struct heap *h, struct owner *o, uint64_t state);

/*
 * The record after o, from newer to older ones; o is NULL: the newest.  NULL: there is none.  A
 * record that is made meanwhile is left out.  In a heap that processes share, heap.owners is for
 * readers outside (tools/look): its file may be forged, so the records are found by their bits
 * (store_owner_after).
 */
INTERNAL struct owner *owner_after(struct heap *h, const struct owner *o);

/* With room, at its end, for what the records of heaps that the program makes have besides (store/file/store.h). */
#define OWNER_BYTES (PAGE_MOST > 8192 ? PAGE_MOST : 8192)

/*
 * The value of the descriptor (ashlar_descriptor.h): the compiler fills in offsets and sizes of
 * the structures.  The object is in owner.c, so each program with an owner record has it:
 * linkers keep the notes of each object that they link, also if nothing refers to them.
 */
#define DESCRIPTOR_NUMBER(name, value) [ASH_##name] = (uint32_t)(value),
#define DESCRIPTOR_PLACE(bytes, offset) (uint32_t)((bytes) << ASH_MEMBER_SHIFT | (offset)),
#define DESCRIPTOR_MEMBER(structure, member)                                                       \
	[ASH_##structure##_##member] = DESCRIPTOR_PLACE(                                           \
		sizeof(((struct structure *)0)->member), offsetof(struct structure, member))
#define DESCRIPTOR_ARRAY(structure, member)                                                        \
	[ASH_##structure##_##member] = DESCRIPTOR_PLACE(                                           \
		sizeof(((struct structure *)0)->member[0]), offsetof(struct structure, member))

/* The value of ash_descriptor. */
#define DESCRIPTOR                                                                                 \
	{                                                                                          \
		.name = ASH_DESCRIPTOR_NAME, .version = ASH_DESCRIPTOR_VERSION,                    \
		.fields = ASH_FIELDS, .release = VERSION_TEXT, .heap = &heap_default,              \
		.map = &chunk_map,                                                                 \
		.field = {ASH_DESCRIPTOR_FIELDS(DESCRIPTOR_NUMBER, DESCRIPTOR_MEMBER,              \
						DESCRIPTOR_ARRAY)}                                 \
	}

/*
 * The note, which has the distance to `symbol`.  A distance needs no relocation, so the note is
 * a constant and shares a page with others.  In a function, which nothing calls and linkers drop:
 * link-time optimisation may put assembly at file level into another object than `symbol`.
 */
#define DESCRIPTOR_TEXT(x)   #x
#define DESCRIPTOR_QUOTED(x) DESCRIPTOR_TEXT(x)
#define DESCRIPTOR_NOTE(type, symbol)                                                              \
	static __attribute__((used, noinline)) void symbol##_note(void)                            \
	{                                                                                          \
		__asm__ volatile(".pushsection .note.ashlar, \"a\", @note\n"                      \
				 ".balign 8\n"                                                     \
				 ".long 12, 8, " DESCRIPTOR_QUOTED(type) "\n"                      \
				 ".asciz \"" ASH_DESCRIPTOR_NAME "\"\n"                            \
				 ".quad %c0 - .\n"                                                 \
				 ".popsection" ::"i"(&(symbol)));                                  \
	}                                                                                          \
	_Static_assert(1, "")

/*
 * The script that gdb loads for a program with Ashlar, if it finds it: tools/gdb.  The section
 * takes no memory; 1 means a Python file.
 */
#define DESCRIPTOR_GDB                                                                             \
	__asm__(".pushsection .debug_gdb_scripts, \"MS\", @progbits, 1\n"                          \
		".byte 1\n"                                                                        \
		".asciz \"ashlar-gdb.py\"\n"                                                       \
		".popsection")

_Static_assert(sizeof ASH_DESCRIPTOR_NAME == 12, "the note's name: its bytes are aligned to 8");
_Static_assert(sizeof(struct map) < (size_t)1 << ASH_MEMBER_SHIFT, "its offsets have room");

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The owner record: the structure from which one thread allocates and into which that thread releases.  The record
 * has a bin for each size class with lists of the record's slabs, spares, and an inbox.  The record touches one page,
 * unless blocks above 30 KiB are in use.
 *
 *   seat (TLS)  .self ----> owner ----> bins[class]
 *
 *   bin:    slab      the current slab, from which slots are taken
 *           partial   other slabs that have free slots, the longest waiting first
 *
 * A slab without a free slot is on no list until a slot of the slab is released.  A walk over the chunks finds all
 * slabs of a record (slab/look.h).
 *
 * Only one thread at a time, the record's holder (seat.h), changes a record, and only in one call at a time.  So the
 * record needs no atomic instructions, except for the state and the inbox (settle.h), which other threads write, too.
 *
 * A thread that ends leaves its record vacant.  The next thread that starts takes the record over with all slabs.
 * While the record is vacant, a thread that releases the last taken slot of a group holds the record for a short
 * time, as a guest, and collects remote bits (settle.h).
 */
#ifndef CORE_OWNER_H
#define CORE_OWNER_H

#include "ashlar_descriptor.h"
#include "backend/map.h"
#include "base/layout.h"
#include "base/roll.h"
#include "base/variant.h"
#include "base/version.h"
#include "internal.h"
#include "slab/slab.h"

/*
 * Doubly linked lists of slabs.  The tail's `next` is NULL, and the head's `previous` is the tail, so a list is one
 * word.  A slab is on at most one list.  Only the holder of the record uses the record's lists.
 */
struct slabs {
	struct slab *head;
};

/* Returns the tail, or NULL if the list is empty. */
static inline struct slab *slabs_tail(const struct slabs *l)
{
	return l->head == NULL ? NULL : l->head->previous;
}

/* Adds a slab that is on no list, at the tail. */
INTERNAL void slabs_append(struct slabs *l, struct slab *s);
INTERNAL void slabs_remove(struct slabs *l, struct slab *s);

/* words of the inbox, see settle.h */
#define INBOX_SLABS 32

/*
 * Spares are slabs that became empty recently and are cached, so that a program with a number of blocks that varies
 * around a multiple of a slab does not make and unmake slabs all the time.  A spare remains current or on its list;
 * owner.spares only marks it.
 *
 *   spares   [s][ ][s][s][ ][ ]...[ ][s]    each in a place of its own; places are filled in turn
 *                        ^ spare_next       behind this place: the oldest spare
 *   large    by class: the places of the spares that large_take may take at once
 *
 * All spares of a record together weigh at most SPARE_UNITS, so there are at most eight; a single spare may weigh
 * more.  The limit is at least SPARE_MOST in a heap with SPARE_FROM units in use, where SPARE_MOST is an eighth of
 * these units or less, and in any heap while due memory is purged (heap.due_at).  Beyond SPARE_MOST, the limit is the
 * units in use divided by SPARE_SHARE and by the number of records, rounded down to a power of two.
 */
#define SPARES	    24
#define SPARE_UNITS 16
#define SPARE_MOST  64
#define SPARE_FROM  512 /* 16 MiB */
#define SPARE_SHARE 32
/* in units; a single unit weighs as two */
#define SPARE_WEIGHT(units) ((units) + ((units) == 1))
/*
 * A current slab of slots up to SPARE_FREE may become empty without becoming a spare, so that a class that is used
 * alone causes no events.  In a heap of more than CROWD records each such slab does become a spare, and the limit is
 * half of SPARE_UNITS, because the memory that threads keep adds up.
 */
#define SPARE_FREE ((size_t)1024)
#define CROWD      16
static inline bool is_crowd(const struct heap *h)
{
	return load_relaxed(&h->owner_count) > CROWD;
}

struct bin {
	uintptr_t slab;	      /* the current slab's distance from the owner, see bin_slab; 0 if there is no slab */
	struct slabs partial; /* slabs that have free slots and are not current */
	uint64_t slabs;	      /* all slabs of the class, also full ones */
};

#define BIN_STEP (sizeof(struct bin) / CLASS_SMALL)
_Static_assert(BIN_STEP == 8, "must be a legal x86 scale factor");

struct owner {
	/* Written by the holder, often. */
	uint64_t turn;	     /* chunks visited so far, see shrink_turn                                 */
	uint8_t lost;	     /* walks still to end because the inbox was full, see collect_lost        */
	uint8_t spare_next;  /* the place of the next spare                                            */
	bool no_spares;	     /* nothing is cached: there is no holder, or all slabs are being visited  */
	bool watched;	     /* see bin.h                                                              */
	uint8_t pending_releases; /* see release_pending in remote.c                                   */
	uint8_t steps;	     /* see owner_is_counted                                                   */
	uint8_t ticks;	     /* see owner_count                                                        */
	uint8_t opened;	     /* units of slabs that were full, see hand_opened                         */
	uint16_t spare_units; /* the weight of all spares                                              */
	uint64_t building;   /* odd while the holder changes more than slots, see owner_begin          */
	/* Other threads read these members with each of their releases.  They are written when the holder changes. */
	_Alignas(CPU_LINE) uint64_t no_slots; /* always 0; read as slab.ready if a bin has no slab */
	uint64_t state;	     /* vacant, or the holder's word, see base/roll.h                          */
	struct owner *next;  /* in heap.owners; never changes once set                                 */
	struct heap *heap;
	uint64_t identity;   /* process_note of the holder, or its ids (holder_note); 0 if unknown     */
	uint64_t batch; /* number of the batch that takes the record over, or 0, see seating.h         */
	struct hardened hardened[IS_HARDENED]; /* base/variant.h.  0 or 1 elements: ISO C has no array of 0, clang and gcc do */
	/* Written by other threads. */
	_Alignas(CPU_LINE) uint64_t notified; /* INBOX_ flags, see settle.h; the holder collects if any is set */
	uint64_t inbox[INBOX_SLABS]; /* struct slab *, or 0 */
	/* Written by the holder. */
	_Alignas(CPU_LINE) struct slab *spares[SPARES]; /* NULL in a free place */
	struct bin bins[CLASSES];
	uint32_t large[CLASSES]; /* bit i is set if spares[i - 1] is a large slab of the class, and not ready */
};

_Static_assert(sizeof(struct owner) <= 2 * 4096, "two of the smallest pages");
_Static_assert(SPARES < 32, "places from 1 on");
_Static_assert(offsetof(struct owner, no_slots) == offsetof(struct slab, ready), "bin_slab");

/*
 * Two records that need no system call: the first thread's record, and owner_none, to which the seat of a thread
 * without a record points.  owner_none is never written, because its bins have no slab.  owner_none comes last, so
 * that the part of owner_first that a small program writes shares a page with the program's other data.
 */
struct owner_static {
	struct owner first;
	uint64_t none[offsetof(struct owner, large) / sizeof(uint64_t)]; /* the part that is read */
};
INTERNAL_EXTERN struct owner_static owner_static;
#define owner_first (&owner_static.first)
#define owner_none  ((struct owner *)(void *)owner_static.none)

#define LISTS_CHANGING ((uint64_t)1) /* the bit of `building` that makes it odd */

/*
 * Between owner_begin and owner_end the holder may change bins, lists and slabs.  Elsewhere the holder only takes and
 * frees slots, each by one store.  So a thread that takes the record over finds the whole record consistent unless
 * `building` is odd (seating.h).  This also holds in a child of fork, which has all stores of the vanished thread up
 * to some instruction, in program order.  For heaps shared by processes, which are read during these changes, see
 * heaps/building.h.
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

/* Returns true once in 64 calls: then a step from slab to slab counts on the clock, although the step is a short way. */
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

/*
 * Returns the bin's current slab.  If there is no current slab, returns the record itself, which looks like a slab
 * without a free slot.
 */
static ALWAYS_INLINE struct slab *bin_slab(const struct owner *o, const struct bin *b)
{
	return (struct slab *)((uintptr_t)o + b->slab);
}

/* Returns whether the slab is current. */
static inline bool bin_has(const struct owner *o, const struct slab *s)
{
	return bin_slab(o, &o->bins[s->class]) == s;
}

/*
 * Returns the record that the slab belongs to, or NULL if no record owns the slab.  For any thread; the result is a
 * hint unless the caller holds that record.
 */
static inline struct owner *slab_owner(const struct slab *s)
{
	uint64_t owner = load_acquire(&s->owner); /* pairs with slab_open: the slab's members are seen */

	return owner > OWNER_FLAGS ? (struct owner *)(uintptr_t)(owner & ~OWNER_PENDING) : NULL;
}

/*
 * Returns whether the slab belongs to this record.  For any thread; the result is a hint unless the caller holds the
 * record.
 */
static inline bool owner_has(const struct owner *o, const struct slab *s)
{
	return (load_relaxed(&s->owner) & ~OWNER_PENDING) == (uint64_t)(uintptr_t)o;
}

/* Returns whether the address lies in an owner record of the heap.  For any thread. */
INTERNAL bool owner_contains(struct heap *h, const void *p);

/*
 * Empties bins, lists, caches and inbox.  For the holder, which afterwards finds the slabs of the record by a walk
 * over the heap.
 */
INTERNAL void owner_reset(struct owner *o);

/* Adds a record that is all 0 or was reset to heap.owners, with this state.  From then on all threads see the record. */
INTERNAL void owner_publish(struct heap *h, struct owner *o, uint64_t state);

/*
 * Returns the record after o, from newer to older records, or NULL after the last record.  Returns the newest record
 * if o is NULL.  A record that is made during the walk is left out.  In a heap that processes share, heap.owners is
 * only for readers outside (tools/look): the file may be forged, so shared_hooks finds the
 * records.
 */
INTERNAL struct owner *owner_after(struct heap *h, const struct owner *o);

/* At its end there is room for the additional members of records in shared heaps (shared_hooks.owner_memory). */
#define OWNER_BYTES (PAGE_MOST > 8192 ? PAGE_MOST : 8192)

/*
 * The value of the descriptor (ashlar_descriptor.h).  The compiler fills in offsets and sizes of the structures.  The
 * object is in owner.c, so each program with an owner record contains it, because linkers keep the notes of each
 * object that they link, also without a reference.
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
 * The note contains the distance to `symbol`.  A distance needs no relocation, so the note is a constant and shares a
 * page with others.  The note is written inside a function that nothing calls and that linkers drop, because
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
 * The script that gdb loads for a program with Ashlar, if gdb finds the script (tools/gdb).  The section takes no
 * memory; byte 1 means a Python file.
 */
#define DESCRIPTOR_GDB                                                                             \
	__asm__(".pushsection .debug_gdb_scripts, \"MS\", @progbits, 1\n"                          \
		".byte 1\n"                                                                        \
		".asciz \"ashlar-gdb.py\"\n"                                                       \
		".popsection")

_Static_assert(sizeof ASH_DESCRIPTOR_NAME == 12, "the note's name: its bytes are aligned to 8");
_Static_assert(sizeof(struct map) < (size_t)1 << ASH_MEMBER_SHIFT, "its offsets have room");

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Stores: the memory of a heap that processes share, in one mapping with one address in all processes; layout,
 * address, more chunks.
 *
 *   | store | census | owner records | region, its records | chunks ........ |
 *   |       |        |               | remote words, tags  |                 |
 *   ^ base, 2 MiB-aligned                                  ^ 2 MiB-aligned
 *
 *   census          a word for each process that allocates (census.h)
 *   owner records   a record for each thread (thread/owner.h)
 *
 * The whole mapping is reserved at once and backed at the first touch.  The mapping contains no pointer to memory
 * outside, so its file can be mapped again later.
 */
#ifndef CORE_STORE_H
#define CORE_STORE_H

#include "ashlar_descriptor.h"
#include "ashlar_heap.h"
#include "store/allocator.h"
#include "store/process/life.h"

/*
 * Format 1 of heaps in files: the places of the words that must outlive the processes.  FORMAT.md describes them byte
 * by byte; format.c compares them with the structures.
 *
 * These words are the truth.  All other words of the file are useful only among processes that have the same
 * structures: the number of the structures, store_caches, is in the file beside the format.  A process that attaches
 * with another number, while no living process is attached, rebuilds all other words (open.h).
 */

#define STORE_FORMAT 1

/* Offsets of the parts, equal on each CPU: multiples of the largest page, except for records. */
#define FORMAT_PAGE    ((size_t)65536)
#define CENSUS_AT      FORMAT_PAGE
#define CENSUS_ENTRIES 16384 /* processes whose blocks can be distinguished */
#define RECORDS_AT     (CENSUS_AT + CENSUS_ENTRIES * sizeof(uint64_t))
#define STORE_RECORDS  4096 /* owner records; further threads use the unowned slabs */
#define RECORD_BYTES   ((size_t)8192)
#define REGION_AT      (RECORDS_AT + STORE_RECORDS * RECORD_BYTES)

/* Remote words, then a tag of 16 bits for each slot, see census.h. */
#define STORE_REMOTE_STRIDE (REMOTE_STRIDE + SLAB_SLOTS * sizeof(uint16_t))

/* Between remote words and tags: the slot for the program's tags, see block_tags.h. */
#define KINDS_SLOT SLAB_GROUPS
_Static_assert((KINDS_SLOT + 1) * sizeof(uint64_t) <= REMOTE_STRIDE, "there is room behind the words");

/* A change that a thread is publishing, see intent.h. */
struct intent {
	uint64_t state; /* count of uses, flag, kind                                  */
	uint64_t slot;	/* address of the word that is to change                      */
	uint64_t fresh; /* the new block of that word, or the draft, or 0             */
	uint64_t old;	/* the block that is released when the word has changed, or 0 */
	uint64_t tag;	/* the census tag of a draft once it is published             */
};
#define INTENTS 4

/* The truth of an owner record, at the end of the record, so that the caches before it may grow; see recover.h. */
struct owner_truth {
	uint64_t flight; /* address of the slot being taken or released */
	uint64_t census; /* entry of the process in the census          */
	struct intent intents[INTENTS];
};
#define TRUTH_AT (RECORD_BYTES - 256)

/*
 * The memory that the holder is taking, or has taken, out of all bitmaps (holds.h).  The holds come before the truth
 * and do not belong to it, because dead threads hold nothing.
 */
#define HOLD_PLACES	 7
#define HOLDS_AT (TRUTH_AT - (HOLD_PLACES + 1) * sizeof(uint64_t))
_Static_assert(sizeof(struct owner) <= HOLDS_AT && sizeof(struct owner_truth) <= 256, "all fit");

/* Returns the truth of a record in a heap that processes share; no other record has a truth. */
static inline struct owner_truth *truth_of(const struct owner *o)
{
	return (struct owner_truth *)(void *)((char *)(uintptr_t)o + TRUTH_AT);
}

static inline uint64_t *holds_of(const struct owner *o)
{
	return (uint64_t *)(void *)((char *)(uintptr_t)o + HOLDS_AT);
}

/*
 * The most threads without a record that may build at a time, see store/recover/builders.h.  Their entries lie behind the first of
 * the smallest pages.
 */
#define STRANGERS    64
#define STRANGERS_AT PAGE_LEAST
struct stranger {
	uint64_t life; /* 0 if the entry is unused */
	uint64_t holds[HOLD_PLACES];
};
_Static_assert(STRANGERS_AT + STRANGERS * sizeof(struct stranger) <= CENSUS_AT, "before the census");

#define LAYOUT_BYTES 64 /* of options->layout, with the 0 */

/* The data format of the program in the heap: options->layout, filled up with 0, and the format's number. */
struct layout {
	char text[LAYOUT_BYTES];
	uint64_t version;
};

struct store {
	/* The truth, see above.  These four words have the same offset in every format. */
	uint64_t magic;	  /* see open.h; STORE_MAGIC is set last                */
	uint64_t format;  /* STORE_FORMAT                                       */
	uint64_t claim;	  /* life of the thread that made or is making the heap */
	uint64_t world;	  /* its namespaces, see world.h                        */
	struct store *base;
	size_t bytes;
	char *records; /* owner records, STORE_RECORDS of RECORD_BYTES */
	uint64_t *census;
	_Alignas(CPU_LINE) uint64_t caches; /* store_caches(), or CACHES_NONE, see open.h */
	uint64_t renewer;   /* life of the thread that rebuilds the caches, or 0 */
	uint64_t unlisted;  /* 0, or the start of the system in which a process attached without a place in the census */
	uint64_t seal;	    /* whether the pages are of one moment, see builders.h */
	uint64_t file; /* identity of the file (share.h): another identity means a copy */
	/* A slot of the heap itself, and the program's name of its data (ash_heap_options). */
	uint64_t names; /* see store/data/names.c */
	uint64_t records_used;
	uint64_t unused; /* 0 */
	struct layout layout;
	/* Of this heap, the members id, root, records and own are the truth. */
	_Alignas(256) struct heap heap;
	/* The rest is for the processes that work in the heap. */
	_Alignas(CPU_LINE) uint64_t refused; /* calls that found no unused record         */
	uint64_t suspect;   /* the hold that a search asks about, or 0: see holds.h               */
	uint64_t crowd;	    /* strangers without an entry that are building                       */
	uint64_t full;	    /* hint: processes that found the census full, see block_tags.c       */
	uint64_t deaths;    /* count of deaths while building                                     */
	uint64_t searched;  /* the value of deaths when a search began that found all lost memory */
	uint64_t made[STORE_RECORDS / 64]; /* bit = 1: the owner record is complete, see store_owner_after */
	struct ash_descriptor descriptor; /* for readers of the file, see ashlar_descriptor.h */
};
_Static_assert(sizeof(struct store) <= PAGE_LEAST &&
		       offsetof(struct store, descriptor) + sizeof(struct ash_descriptor) < PAGE_LEAST,
	       "one page, whose last byte share_grow writes");

static inline struct stranger *store_stranger(const struct store *s, unsigned i)
{
	return (struct stranger *)(void *)((char *)(uintptr_t)s + STRANGERS_AT) + i;
}

/* Returns the deaths while building that no complete search has followed. */
static inline uint64_t store_lost(const struct store *s)
{
	/* Pairs with the threads that count deaths: the stores of the dead threads are seen. */
	return load_acquire(&s->deaths) - load_relaxed(&s->searched);
}

/* The bytes that are allocated on a file's disk for the first page and the strangers. */
#define STORE_HEAD_BYTES STORE_ROUND(STRANGERS_AT + STRANGERS * sizeof(struct stranger), PAGE_MOST)

#define STORE_MAGIC ((uint64_t)0x3230726c68736100) /* "\0ashlr02" */
#define CACHES_NONE ((uint64_t)0) /* the caches are being rebuilt, or their maker died */

static inline struct store *store_of(struct heap *h)
{
	return (struct store *)(void *)((char *)h - offsetof(struct store, heap));
}

/* Returns the store of a heap that processes share, or NULL for a heap of this process and for an arena. */
static inline struct store *store_behind(ash_heap *heap)
{
	return instance_sharing(heap) == PAGES_SHARED ? store_of(heap_of(heap)) : NULL;
}

/*
 * Returns the number of all structures in the file that are not the truth: of all sizes, places and counts that a
 * process relies on.  The number differs by build and CPU.
 */
INTERNAL uint64_t store_caches(void);

/* Returns whether a store may have n chunks. */
INTERNAL bool store_may_have(size_t n);
/* Returns the bytes of a store of at most n chunks. */
INTERNAL size_t store_bytes(size_t n);
/* Returns the bytes of the records, which is where the chunks begin. */
INTERNAL size_t store_chunks_at(size_t n);

/* Gets the layout of these options.  Returns false if the text is longer than a heap can have. */
INTERNAL bool layout_of(const struct ash_heap_options *options, struct layout *out);

/* Returns the owner record of this number. */
static inline struct owner *store_record(const struct store *s, size_t i)
{
	return (struct owner *)(void *)(s->records + i * RECORD_BYTES);
}

/*
 * Owner records in a store.  A record is reserved (records_used), cleared, and then made, that is, the record's bit
 * is set.  No list leads to a record, because a list of a file may be forged, and two attaching processes cannot both
 * rebuild a list.
 */

/*
 * Returns the most records.  A file that is allocated at once has as many records as its limit, n chunks, has units,
 * because a record without a slab of its own is of little use: all records take 32 MiB.  The rest of their place is a
 * hole.
 */
static inline size_t store_records(size_t n, bool allocated)
{
	return allocated && n < STORE_RECORDS / CHUNK_UNITS ? n * CHUNK_UNITS : STORE_RECORDS;
}

/* Returns memory for an owner record, or NULL if all are in use. */
INTERNAL void *store_owner(struct heap *h);
/* Publishes a complete record: all threads see it from then on. */
INTERNAL void store_owner_made(struct owner *o);
/* owner_after for a store. */
INTERNAL struct owner *store_owner_after(struct heap *h, const struct owner *o);

static inline bool store_owner_is_made(const struct store *s, size_t i)
{
	return (load_acquire(&s->made[i / 64]) >> (i % 64) & 1) != 0; /* pairs with store_owner_made */
}

#define STORE_ROUND(n, to) (((n) + (to) - 1) / (to) * (to))

/*
 * Writes all words of store and region that follow from the base address and the largest number of chunks (the limit,
 * region.capacity): in a store that is made, or in a copy to compare with a file.  region.chunks, the number of
 * existing chunks, becomes the limit here.
 */
INTERNAL void store_set(struct store *s, struct store *base, size_t n);
INTERNAL void store_set_region(struct region *r, struct store *base, size_t n);

/* ---- the store's address in a process ---- */

/* Maps the file, or fresh memory (SHARE_NO_FILE), at the address.  Returns NULL with the reason in *why. */
INTERNAL struct store *store_map_at(int fd, size_t bytes, uintptr_t address, enum ash_attach *why);
/* Maps the file at an address that is likely to be free in other processes as well. */
INTERNAL struct store *store_map_anywhere(int fd, size_t bytes, uint64_t chance,
					  enum ash_attach *why);

/* Enters all chunks that the store may have in the map.  Returns false if there is no memory for the map. */
INTERNAL bool store_enter(struct store *s, size_t limit);

/* Removes all chunks of the store from the map. */
INTERNAL void store_exit(struct store *s);

/* Unmaps a store, whose chunks the map knows, from this process. */
INTERNAL void store_leave(struct store *s);

/*
 * More chunks for a store, while other processes work there.
 *
 *   | store | ... records for the limit ... | chunks ........ | ............... |
 *                                           0        region.chunks     region.capacity
 *
 * Records and addresses for all chunks up to the limit exist from the beginning, also in each process's map: for the
 * file system they are a hole.  So no other process must be notified, and nothing is moved.  The caller builds: if
 * the caller dies between the two steps, the new chunks are neither free nor in use, and are found as lost memory.
 */

/* Returns whether the store already has n chunks. */
static inline bool store_has(const struct store *s, size_t n)
{
	return load_acquire(&load_acquire(&s->heap.regions)->chunks) >= n; /* pairs with store_extend */
}

/* Returns whether n chunks are within the store's limit. */
static inline bool store_may_extend(const struct store *s, size_t n)
{
	return n <= load_relaxed(&load_acquire(&s->heap.regions)->capacity);
}

/* Extends the store to at least n chunks.  Returns false if that is above its limit. */
INTERNAL bool store_extend(struct store *s, size_t n);

/*
 * Records of chunks in a heap's file that were never known (region.known).
 *
 * Checks of a file, and walks, do not read them, because their number is that of all possible chunks, and reading a
 * page of a tmpfs allocates the page.  In a file that another program has written they may have any contents.  So
 * they are cleared when the chunk is first used.
 */

/* Bits of heap.records. */
#define RECORDS_DOUBTED	  ((uint64_t)1) /* the file was attached: another program may have written there */
#define RECORDS_ALLOCATED ((uint64_t)2) /* options->allocate: no hole may be punched                     */

/*
 * Clears the records of the run that the caller has just claimed, unless they are known.  Before the run is given
 * back, the records behind the first chunk are read only by look-ups of inner addresses.
 */
INTERNAL void run_made(struct region *r, size_t first, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* A heap: the root of its regions and owners, and its counters; runs of chunks; the records of regions. */
#ifndef CORE_HEAP_H
#define CORE_HEAP_H

#include "ashlar.h"
#include "atomic.h"
#include "base/class.h"
#include "base/misuse.h"
#include "internal.h"
#include "pages.h"

struct ash_block;
struct ash_heap;
struct ash_heap_owner;
struct block_place;
struct chunk;
struct owner;
struct region;
struct slab;

struct heap {
	struct region *regions; /* oldest first; never removed: records are permanent */
	struct owner *owners;	/* newest first; the same.  See owner_after        */
	const struct ash_defaults *options;
	uint64_t id;		/* 0: the default heap; unique within a process    */
	enum sharing sharing;
	uint64_t settled;	/* the fork generation whose lost records were taken
				   over, see thread/seating.h                         */
	/* Read at each slow operation, and seldom written; so not beside `dirty`. */
	uint64_t running;	/* 1 while the clock runs, else 0; see retain.h         */
	uint64_t locked;	/* hint: not 0: memory is resident when mapped (mlockall) */

	/* Written on slow paths by all threads, so on other cache lines than the above. */
	_Alignas(CPU_LINE) union {
		uint64_t both;		/* changed by one addition                      */
		struct {
			uint32_t dirty; /* hint: units free and not clean               */
			uint32_t used;	/* hint: units in use                           */
		};
	};
	uint64_t reserved;		   /* chunks of address space                       */
	uint64_t refused;		   /* hint: units that could not be purged          */
	/* See retain.h. */
	uint64_t period_low;   /* hint: the least value of `dirty` in the period            */
	uint64_t period_high;  /* hint: the most that was kept at a tick of it              */
	uint64_t period_start; /* hint: `dirty` when the period began                       */
	uint64_t clock;	       /* slow operations of the period                             */
	/* With the id what a file keeps of a heap: these do not move, see store/file/store.h. */
	_Alignas(CPU_LINE) uint64_t root; /* the program's, see ash_heap_root           */
	uint64_t records;	/* RECORDS_... of a heap in a file, see store/file/store.h */
	struct ash_defaults own; /* options, of a heap that has its own                     */
	uint64_t slab_chunks;  /* hint: chunks of slabs                                     */
	uint64_t owner_count;  /* hint: owner records                                       */
	/* See thread/seating.h. */
	struct owner *adopt_next; /* hint: the record whose slabs are adopted next; NULL: the newest */
	struct owner *reap_next;  /* the same of the record to be checked next              */
	uint64_t takeovers;	/* counter that numbers batches of records                  */
	uint64_t vacated;	/* hint: how often a record became vacant                   */
	uint64_t vacated_seen;	/* hint: `vacated` when no vacant record was found          */
	uint64_t borders;	/* hint: neighbouring chunks whose advice differs           */
	/* See retain.h. */
	uint64_t hand; /* hint: chunks that were looked at, newest first; 0: nothing is due */
	uint64_t due;  /* hint: units, to be purged until so many are left              */
	uint64_t gone; /* hint: units that went lately and were not taken since             */
	uint64_t swing; /* hint: the floor of spans with huge pages                         */
	uint64_t low;  /* hint: the least units that were in use while those went           */
	uint64_t floor; /* hint: so many units more may stay, as what went was taken again  */
	/* Unowned slabs, see slab/unowned.h. */
	_Alignas(CPU_LINE) uint64_t unowned_made; /* counts a slab before it is made, and   */
	uint64_t unowned_gone;			  /* after it went; equal: there is none    */
	struct slab *unowned[CLASSES];		  /* hint: one with free slots              */
	uint64_t unowned_next[CLASSES]; /* hint: the chunk where the next search begins     */
	/* Hints: what is free inside slabs, see thread/settle.h. */
	_Alignas(CPU_LINE) struct {
		uint64_t told;	       /* units of slabs that got remote bits since the last step */
		uint64_t hand;	       /* so many chunks were looked at in this round             */
		uint64_t found, kept;  /* bytes found in this round, and of them resident        */
		uint64_t found_before, kept_before; /* in the last round                         */
		uint64_t gone;	       /* bytes purged in this round                             */
		uint64_t busy;	       /* so many rounds, each call steps                        */
		uint64_t holes;	       /* so many rounds, a few opened units step                */
	} idle;
	/* Hints: the most so far of units in use, of these and dirty ones, and of chunks. */
	struct {
		uint64_t used, kept, reserved;
	} peak;
};

INTERNAL_EXTERN struct heap heap_default;

#define HEAP_BYTES ((sizeof(struct heap) + PAGE_MOST - 1) & ~(PAGE_MOST - 1))

/*
 * What differs by the kind of heap; what needs code is in heap_hooks.  The compiler knows both rows: a
 * question is one comparison, and no table must be relocated before the first call (prereloc.h).
 */
struct heap_kind {
	bool own_pages;	  /* no other process maps them: they are moved, cut and unmapped at will      */
	bool own_records; /* held by this process's threads: a fork copies them, a death takes them along */
	bool gaps;	  /* before an owner's first slot, see slab_gap                               */
};
static const struct heap_kind heap_private = {true, true, true}, heap_shared = {false, false, false};

static inline const struct heap_kind *heap_kind(const struct heap *h)
{
	return likely(h->sharing == PAGES_PRIVATE) ? &heap_private : &heap_shared;
}

/*
 * Functions that only heaps made by the program need.  The default heap's code calls
 * them through these pointers, so that a program without such heaps does not link
 * them.  Set before the first such heap exists.
 */
struct heap_hooks {
	/* False: p is not of such a heap.  c: the chunk that has p, or NULL. */
	bool (*release)(struct chunk *c, void *p);
	/* alignment: of the result, see front/resize.h; *p is NULL if that is not possible. */
	bool (*resize)(struct chunk *c, void **p, size_t size, size_t alignment);
	size_t (*bytes)(const void *p); /* of a block outside all chunks; 0: there is none */
	/* A block of the default heap that may contain a heap is about to be released. */
	void (*gone)(const void *p, size_t bytes);
	/* Reports the misuse if the pointer belongs to such a heap. */
	void (*misuse)(const char *call, const void *p);
	/* As ash_heap_walk, for any heap but the default one. */
	int (*walk)(struct ash_heap *heap,
		    int (*see)(void *, void *, size_t, const struct ash_heap_owner *),
		    void *context);
	/* Completes what ash_find found out: a block of an arena, the owner in a shared heap. */
	void (*find)(const void *p, const struct block_place *at, struct ash_block *out);
	/* Leaves a thread's seats in such heaps; the thread is about to end. */
	void (*thread_ends)(void);
	/* Gives back what remains of heaps that were destroyed; returns the bytes. */
	size_t (*trim)(void);
	/* ---- the rest: of heaps whose records are not the process's own (heap_kind) ---- */
	/* The first chunk of n that were claimed gets known, see region_know. */
	void (*run_made)(struct region *r, size_t first, size_t n);
	/* A slab is about to be published. */
	void (*slab_made)(struct slab *s);
	/* Zeroed memory for one more owner record; NULL: none. */
	void *(*owner_memory)(struct heap *h);
	/* The record is complete; the next one that is (owner_after). */
	void (*owner_made)(struct owner *o);
	struct owner *(*owner_after)(struct heap *h, const struct owner *o);
	/* The calling thread's holder word (base/roll.h). */
	uint64_t (*holder)(struct heap *h);
	/* True: the holder has died. */
	bool (*is_dead)(struct heap *h, uint64_t holder);
	/* Completes what a dead holder of the record left half done; the caller holds it now. */
	void (*settle)(struct owner *v);
	/* Notes what the calling thread is about to take, or drops the note (backend/hold.h). */
	void (*hold)(struct heap *h, uint64_t what, bool notes);
	/* True: no live thread is changing units, chunks or slabs. */
	bool (*is_quiet)(struct heap *h);
};
INTERNAL_EXTERN const struct heap_hooks *heap_hooks;

/*
 * Relaxed: the word has one value beside NULL, the address of constants, and a thread that
 * has a block or the handle of such a heap got it from one for whom the word was set.
 */
static inline const struct heap_hooks *heap_hooks_now(void)
{
	return load_relaxed(&heap_hooks);
}

/* The regions of a heap, from the oldest to the newest; NULL: there is none, or no other. */
static inline struct region *region_first(const struct heap *h)
{
	return load_acquire(&h->regions); /* pairs with region_append */
}

static inline struct region *region_next(const struct region *r)
{
	return load_acquire(&r->next); /* pairs with region_append */
}

/* Of a chunk record that was ever used, by anybody: its region never changes, but is stored again with each use. */
static inline struct heap *chunk_heap(const struct chunk *c)
{
	return load_relaxed(&c->region)->heap;
}

/* Misuse if a page of these does not read zero (front/guard.c). */
HARDENED void memory_compare(const char *p, size_t bytes);

/*
 * Free memory of the default heap reads zero in a hardened product (front/guard.h): a page that does not was written after
 * its release.  To be called before memory goes out of use, as nobody could tell afterwards.
 */
static inline void heap_compare(const struct heap *h, const char *p, size_t bytes)
{
	if (IS_HARDENED && h == &heap_default)
		memory_compare(p, bytes);
}

/* Purges free memory of the heap, as pages_purge. */
static inline bool heap_purge(const struct heap *h, char *p, size_t bytes)
{
	heap_compare(h, p, bytes);
	return pages_purge(p, bytes, h->sharing);
}

/* The bytes of a region that is one span's own; 0: another region. */
static inline size_t region_alone(const struct region *r)
{
	return r->remote != NULL ? 0 : load_relaxed(&r->alone);
}

/* The bytes of address space that the region has. */
static inline size_t region_bytes(const struct region *r)
{
	size_t alone = region_alone(r);

	return alone != 0 ? alone : load_relaxed(&r->chunks) << CHUNK_SHIFT;
}

/* The chunks that these bytes are part of; not only the records: a span's own region has one. */
static inline size_t region_all(const struct region *r)
{
	return (region_bytes(r) + CHUNK_SIZE - 1) >> CHUNK_SHIFT;
}

#define HEAP_USED ((uint64_t)1 << 32) /* a unit in use, in heap.both */

/* What two threads add at the same moment may be missed. */
static inline void heap_peak(uint64_t *most, uint64_t now)
{
	if (now > load_relaxed(most))
		store_relaxed(most, now);
}

/* The counters became `both`: raises the peaks. */
INTERNAL void heap_peaks(struct heap *h, uint64_t both);

/* `used` units are in use no more; of them `units` are dirty. */
static inline void heap_dirtied(struct heap *h, size_t units, size_t used)
{
	fetch_add_relaxed(&h->both, units - used * HEAP_USED);
}

/* `units` that were not in use count as dirty from now on. */
static inline void heap_soiled(struct heap *h, size_t units)
{
	uint64_t now = fetch_add_relaxed(&h->both, units) + units;

	heap_peaks(h, now);
}

/* Hint: chunks' worth of units in use. */
static inline size_t heap_used(const struct heap *h)
{
	return load_relaxed(&h->used) / CHUNK_UNITS;
}

/* Hint: units in use, without what the hand found free inside slabs (thread/settle.h). */
static inline uint64_t heap_live(const struct heap *h)
{
	uint64_t used = load_relaxed(&h->used), found = load_relaxed(&h->idle.found), before = load_relaxed(&h->idle.found_before);

	found = (found > before ? found : before) / UNIT_SIZE;
	return used > found ? used - found : 0;
}

/* So many units that went were taken again: the floor rises (retain.h). */
INTERNAL void heap_again(struct heap *h, uint64_t units);

/* `units` dirty units were purged or taken into use; `used` units were taken into use. */
INTERNAL void heap_cleaned(struct heap *h, size_t units, size_t used);

/* A run: adjacent chunks of a region, known by the first one; each call says how many. */
struct run {
	struct region *region; /* NULL: none */
	size_t first;	       /* chunk      */
};

static inline char *run_base(struct run run)
{
	return run.region->base + (run.first << CHUNK_SHIFT);
}

/* Bytes of the run's n chunks: a span's own region may not have all of the last one. */
static inline size_t run_bytes(struct run run, size_t n)
{
	size_t alone = region_alone(run.region);

	return alone != 0 ? alone : n << CHUNK_SHIFT;
}

static inline struct chunk *run_chunk(struct run run)
{
	return region_chunk(run.region, run.first);
}

/* ---- the records of a region: their size and allocation ---- */

/* Bytes of records for n chunks; `slabs`: with slab records and remote words of this stride. */
INTERNAL size_t metadata_bytes(size_t n, bool slabs, size_t remote_stride);

/*
 * Initialises r, in zeroed memory, as the region record whose final address is `at`
 * (r or elsewhere); the state is CLAIMED, by the caller.
 */
INTERNAL void metadata_init(struct region *r, struct region *at, struct heap *h, size_t n,
			    bool slabs, size_t remote_stride);

/*
 * Records for n chunks, left by a retired region or new, the last of the heap's then; claimed by
 * the caller.  NULL: no memory.
 */
INTERNAL struct region *metadata_make(struct heap *h, size_t n, bool slabs);

/* Unmaps the records of all regions of a heap that is being destroyed. */
INTERNAL void metadata_unmap(struct heap *h);

#endif

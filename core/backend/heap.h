/* SPDX-License-Identifier: MIT */
/* A heap: the root of its regions and owners, and its counters; runs of chunks; the records of regions. */
#ifndef CORE_HEAP_H
#define CORE_HEAP_H

#include "ashlar.h"
#include "atomic.h"
#include "base/class.h"
#include "base/misuse.h"
#include "base/variant.h"
#include "internal.h"
#include "pages.h"

struct ash_block;
struct ash_heap;
struct ash_heap_owner;
struct chunk;
struct owner;
struct region;
struct slab;

struct heap {
	struct region *regions; /* oldest first; never removed: records are permanent */
	struct owner *owners;	/* newest first; never removed, see owner_after    */
	const struct ash_defaults *options;
	uint64_t id;		/* unique within a process; 0: the default heap    */
	enum sharing sharing;
	uint64_t settled;	/* the fork generation whose lost records were taken over, see
				   thread/seating.h */
	/* Read at each slow operation and seldom written, so not on the cache line of `dirty`. */
	uint64_t running;	/* 1 while the clock runs, else 0; see retain.h         */
	uint64_t locked;	/* hint: 1 if memory is resident when mapped (mlockall) */

	/* All threads write these on slow paths, so they lie on other cache lines than the members above. */
	_Alignas(CPU_LINE) union {
		uint64_t both;		/* `dirty` and `used`, changed by one addition  */
		struct {
			uint32_t dirty; /* hint: units free and not clean               */
			uint32_t used;	/* hint: units in use                           */
		};
	};
	uint64_t reserved;		   /* chunks of address space                       */
	uint64_t refused;		   /* hint: units that could not be purged          */
	/* See retain.h. */
	uint64_t period_low;   /* hint: the minimum of `dirty` in the period                */
	uint64_t period_high;  /* hint: the maximum of retained units at a tick of it       */
	uint64_t period_start; /* hint: `dirty` when the period began                       */
	uint64_t clock;	       /* slow operations so far in the period                      */
	/*
	 * With the id, the part of a heap that a file may keep.  These members do not move.
	 */
	_Alignas(CPU_LINE) uint64_t root; /* the program's pointer, see ash_heap_root   */
	uint64_t records;	/* of shared_hooks, see backend/shared.h                   */
	struct ash_defaults own; /* the options of a heap that has its own                  */
	uint64_t slab_chunks;  /* hint: number of slab chunks                               */
	uint64_t owner_count;  /* hint: number of owner records                             */
	/* See thread/seating.h. */
	struct owner *adopt_next; /* hint: the record whose slabs are adopted next; NULL: the newest */
	struct owner *reap_next;  /* hint: the record to be checked next; NULL: the newest  */
	uint64_t takeovers;	/* counter that numbers batches of records                  */
	uint64_t vacated;	/* hint: counts records that became vacant                  */
	uint64_t vacated_seen;	/* hint: `vacated` when no vacant record was found          */
	uint64_t borders;	/* hint: number of adjacent chunks whose advice differs     */
	/* See retain.h. */
	uint64_t due_at; /* hint: chunks already purged, newest first; 0: nothing is due */
	uint64_t due;  /* hint: units that may stay; more are to be purged              */
	uint64_t gone; /* hint: units lately purged and not taken since                     */
	uint64_t swing; /* hint: the floor of spans with huge pages                         */
	uint64_t low;  /* hint: the minimum of units in use while those were purged         */
	uint64_t floor; /* hint: units that may stay in addition, because purged memory was taken again */
	/* Unowned slabs, see slab/unowned.h. */
	_Alignas(CPU_LINE) uint64_t unowned_made; /* counts each slab before it is made     */
	uint64_t unowned_gone;			  /* counts it after it went; equal to made: there is none */
	struct slab *unowned[CLASSES];		  /* hint: a slab with free slots           */
	uint64_t unowned_next[CLASSES]; /* hint: the chunk where the next search begins     */
	/* Hints about free memory inside slabs, see thread/settle.h. */
	_Alignas(CPU_LINE) struct {
		uint64_t told;	       /* units of slabs that got remote bits since the last step */
		uint64_t hand;	       /* number of chunks looked at in this round                */
		uint64_t found, kept;  /* bytes found in this round, and bytes of these resident */
		uint64_t found_before, kept_before; /* the same figures of the last round        */
		uint64_t gone;	       /* bytes purged in this round                             */
		uint64_t busy;	       /* remaining rounds in which each call steps              */
		uint64_t holes;	       /* remaining rounds in which a few opened units step      */
	} idle;
	/* Hints: the maxima so far of units in use, of units in use or dirty, and of chunks. */
	struct {
		uint64_t used, kept, reserved;
	} peak;
};

INTERNAL_EXTERN struct heap heap_default;

#define HEAP_BYTES ((sizeof(struct heap) + PAGE_MOST - 1) & ~(PAGE_MOST - 1))

/*
 * The differences between kinds of heap that need no code; the others are in shared_hooks.  The compiler knows
 * both rows: a test is one comparison, and no table must be relocated before the first call (prereloc.h).
 */
struct heap_kind {
	bool own_pages;	  /* no other process maps them: they are moved, cut and unmapped freely       */
	bool own_records; /* this process's threads hold them: a fork copies them, and they end with the process */
	bool gaps;	  /* before an owner's first slot, see slab_gap                               */
};
static const struct heap_kind heap_private = {true, true, true}, heap_shared = {false, false, false};

static inline const struct heap_kind *heap_kind(const struct heap *h)
{
	return likely(h->sharing == PAGES_PRIVATE) ? &heap_private : &heap_shared;
}

/*
 * Functions that only heaps made by the program need.  The default heap's code calls them through these
 * pointers, so that a program without such heaps does not link them.  Set before the first such heap exists.
 */
struct heap_hooks {
	/* Returns false if p is not in such a heap.  c is the chunk that has p, or NULL. */
	bool (*release)(struct chunk *c, void *p);
	/*
	 * `alignment` is that of the result, see front/block.h.  Sets *p to NULL if the resize is not
	 * possible.
	 */
	bool (*resize)(struct chunk *c, void **p, size_t size, size_t alignment);
	size_t (*bytes)(const void *p); /* size of a block outside all chunks; 0 if there is none */
	/* Called when a block of the default heap that may contain a heap is about to be released. */
	void (*gone)(const void *p, size_t bytes);
	/* Reports the misuse if the pointer belongs to such a heap. */
	void (*misuse)(const char *call, const void *p);
	/* Like ash_heap_walk, for any heap but the default heap. */
	int (*walk)(struct ash_heap *heap,
		    int (*see)(void *, void *, size_t, const struct ash_heap_owner *),
		    void *context);
	/* Completes the answer of ash_find: a block of an arena. */
	void (*find)(const void *p, struct ash_block *out);
	/* Leaves the seats in such heaps of a thread that is about to end. */
	void (*thread_ends)(void);
	/* Gives back what remains of destroyed heaps; returns the number of bytes. */
	size_t (*trim)(void);
};
INTERNAL_EXTERN const struct heap_hooks *heap_hooks;

/*
 * Relaxed: the word has one value beside NULL, the address of constants.  A thread that has a block or the
 * handle of such a heap got it from a thread that saw the word set.
 */
static inline const struct heap_hooks *heap_hooks_now(void)
{
	return load_relaxed(&heap_hooks);
}

/* Walk over the regions of a heap, from the oldest to the newest; NULL ends it. */
static inline struct region *region_first(const struct heap *h)
{
	return load_acquire(&h->regions); /* pairs with region_append */
}

static inline struct region *region_next(const struct region *r)
{
	return load_acquire(&r->next); /* pairs with region_append */
}

/*
 * Returns the heap of a chunk record that any thread ever used.  Relaxed: the region of a record never
 * changes, although each use stores it again.
 */
static inline struct heap *chunk_heap(const struct chunk *c)
{
	return load_relaxed(&c->region)->heap;
}

/* Purges free memory of the heap, like pages_purge. */
static inline bool heap_purge(const struct heap *h, char *p, size_t bytes)
{
	heap_compare(h, p, bytes);
	return pages_purge(p, bytes, h->sharing);
}

/* Returns the number of bytes of a region that is one span's own, and 0 for another region. */
static inline size_t region_alone(const struct region *r)
{
	return r->remote != NULL ? 0 : load_relaxed(&r->alone);
}

/* Returns the number of bytes of the region's address space. */
static inline size_t region_bytes(const struct region *r)
{
	size_t alone = region_alone(r);

	return alone != 0 ? alone : load_relaxed(&r->chunks) << CHUNK_SHIFT;
}

/*
 * Returns the number of chunks that these bytes are part of.  That is not the number of chunk records: a
 * span's own region has one.
 */
static inline size_t region_all(const struct region *r)
{
	return (region_bytes(r) + CHUNK_SIZE - 1) >> CHUNK_SHIFT;
}

#define HEAP_USED ((uint64_t)1 << 32) /* a unit in use, in heap.both */

/* May miss memory that two threads add at the same moment. */
static inline void heap_peak(uint64_t *most, uint64_t now)
{
	if (now > load_relaxed(most))
		store_relaxed(most, now);
}

/* Raises the peaks after the counters became `both`. */
INTERNAL void heap_peaks(struct heap *h, uint64_t both);

/* Counts `used` units out of use, of which `units` are dirty. */
static inline void heap_dirtied(struct heap *h, size_t units, size_t used)
{
	fetch_add_relaxed(&h->both, units - used * HEAP_USED);
}

/* Counts `units` that were not in use as dirty from now on. */
static inline void heap_soiled(struct heap *h, size_t units)
{
	uint64_t now = fetch_add_relaxed(&h->both, units) + units;

	heap_peaks(h, now);
}

/* Returns the units in use, in chunks (a hint). */
static inline size_t heap_used(const struct heap *h)
{
	return load_relaxed(&h->used) / CHUNK_UNITS;
}

/*
 * Returns the units in use, without the memory that the hand found free inside slabs (thread/settle.h); a
 * hint.
 */
static inline uint64_t heap_live(const struct heap *h)
{
	uint64_t used = load_relaxed(&h->used), found = load_relaxed(&h->idle.found), before = load_relaxed(&h->idle.found_before);

	found = (found > before ? found : before) / UNIT_SIZE;
	return used > found ? used - found : 0;
}

/* Called when purged units were taken again: raises the floor (retain.h). */
INTERNAL void heap_again(struct heap *h, uint64_t units);

/* Counts `units` dirty units as purged or taken into use, and `used` units as taken into use. */
INTERNAL void heap_cleaned(struct heap *h, size_t units, size_t used);

/* A run: adjacent chunks of a region, known by the first chunk; each call gets their number. */
struct run {
	struct region *region; /* NULL: no run */
	size_t first;	       /* chunk      */
};

static inline char *run_base(struct run run)
{
	return run.region->base + (run.first << CHUNK_SHIFT);
}

/* Returns the bytes of the run's n chunks: a span's own region may lack a part of the last chunk. */
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

/* Returns the bytes of records for n chunks; `slabs`: with slab records and remote words of this stride. */
INTERNAL size_t metadata_bytes(size_t n, bool slabs, size_t remote_stride);

/*
 * Initialises r, in zeroed memory, as the region record whose final address is `at` (r or elsewhere).  The
 * state is CLAIMED, by the caller.
 */
INTERNAL void metadata_init(struct region *r, struct region *at, struct heap *h, size_t n,
			    bool slabs, size_t remote_stride);

/*
 * Returns records for n chunks, claimed by the caller: those of a retired region, or new ones behind the
 * heap's last region.  Returns NULL if there is no memory.
 */
INTERNAL struct region *metadata_make(struct heap *h, size_t n, bool slabs);

/* Unmaps the records of all regions of a heap that is being destroyed. */
INTERNAL void metadata_unmap(struct heap *h);

#endif

/* SPDX-License-Identifier: MIT */
/* A heap: what its regions and owners hang from. */
#ifndef CORE_HEAP_H
#define CORE_HEAP_H

#include "ashlar.h"
#include "atomic.h"
#include "base/class.h"
#include "base/misuse.h"
#include "pages.h"

struct chunk;
struct owner;
struct slab;

struct heap {
	struct region *regions; /* pushed, never taken off: records are for ever */
	struct owner *owners;	/* the same                                     */
	const struct ash_defaults *options;
	uint64_t id;	     /* 0: the default heap; no two heaps of a process share one */
	enum sharing sharing;
	uint64_t settled;    /* the generation whose lost records were taken over, see fork.h */
	uint64_t root;	     /* the program's, see ash_heap_root                 */

	/* Written on slow paths by all threads, so not beside what they read. */
	_Alignas(CPU_LINE) uint64_t dirty; /* hint: units free and not clean     */
	uint64_t reserved;		   /* chunks of address space            */
	uint64_t refused;		   /* hint: units that could not be purged */
	uint64_t low;			   /* hint: the least that `dirty` was, see retain.h */
	uint64_t from;			   /* hint: `dirty` when the period began          */
	uint64_t clock;			   /* slow operations, while much is kept          */
	uint64_t running;		   /* CLOCK_RUNS or _UNTOLD while the clock runs   */
	uint64_t slab_chunks;		   /* hint: chunks of slabs                        */
	uint64_t asked;			   /* hint: slab_chunks, when owner_reap asked about all */
	uint64_t turn;			   /* hint: the record to ask about next           */
	uint64_t takeovers;		   /* numbers given to batches, see takeover.h     */
	uint64_t vacated;		   /* hint: how often a record got vacant          */
	uint64_t searched;		   /* hint: `vacated`, when none was to be had     */
	uint64_t borders;		   /* hint: between chunks of different advice     */
	uint64_t locked;		   /* hint: not 0: all that is mapped has memory   */
	/* Unowned slabs, see unowned.h. */
	_Alignas(CPU_LINE) uint64_t made; /* so far, or about to be; those that went:    */
	uint64_t gone;			  /* the same number means that there is none    */
	struct slab *unowned[CLASSES];	  /* hint: one that has room                     */
	uint64_t sought[CLASSES];	  /* hint: chunk where to look for others        */
	struct ash_defaults own; /* options, of a heap that has its own         */
};

/* Of heap.running.  Untold: the owners are still to learn of it, see watch.h. */
#define CLOCK_RUNS   ((uint64_t)1)
#define CLOCK_UNTOLD ((uint64_t)2)

extern INTERNAL struct heap heap_default;

#define HEAP_BYTES ((sizeof(struct heap) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))

/*
 * What only heaps made by the program need.  The code of the default heap
 * reaches it through here, so that a program without such heaps is not linked
 * with it.  Set before the first such heap exists.
 */
struct heap_hooks {
	/* False: not theirs.  c: the chunk that has p, or NULL. */
	bool (*release)(struct chunk *c, void *p);
	bool (*resize)(struct chunk *c, void **p, size_t size);
	size_t (*bytes)(const void *p); /* of a block that no chunk has; 0: there is none */
	/* A block of the default heap that may have a heap in it is about to be released. */
	void (*gone)(const void *p, size_t bytes);
	/* Reports it, if they know more of the pointer. */
	void (*misuse)(enum call call, const void *p);
	/* A slab is about to be published in a heap shared by processes. */
	void (*slab_made)(struct slab *s);
	/* Memory for one more owner record, zero; NULL: none. */
	void *(*owner_memory)(struct heap *h);
	/* The holder word (owner.h) of the calling thread in a heap shared by processes. */
	uint64_t (*holder)(struct heap *h);
	/* True: the holder has died.  For heaps shared by processes. */
	bool (*is_dead)(struct heap *h, uint64_t holder);
	/* What a dead holder of the record was in the middle of; the caller holds it now. */
	void (*settle)(struct owner *v);
	/* True: no live thread is changing units, chunks or slabs of a heap shared by processes. */
	bool (*is_quiet)(struct heap *h);
	/* A thread's seats in such heaps, when it is about to end. */
	void (*thread_ends)(void);
};
extern INTERNAL const struct heap_hooks *heap_hooks;

/* An id that no other heap of this process has, nor another process's shared one. */
uint64_t heap_new_id(bool shared);

/* What ash_stats and ash_check tell; o: the caller's record, checked out, or NULL. */
void heap_stats(struct heap *h, struct ash_stats *out);
int heap_check(struct heap *h, const struct owner *o);

static inline void heap_dirtied(struct heap *h, size_t units)
{
	fetch_add_relaxed(&h->dirty, units);
}

void heap_cleaned(struct heap *h, size_t units);

#endif

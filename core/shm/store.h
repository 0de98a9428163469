/* SPDX-License-Identifier: MIT */
/*
 * Stores: the memory of a heap that processes share, in one mapping that
 * stands at the same address in all of them.
 *
 *   | store | census | owner records | region, its records | chunks ........ |
 *   |       |        |               | remote words, tags  |                 |
 *   ^ base, 2 MiB-aligned                                  ^ 2 MiB-aligned
 *
 * Everything is reserved at once and backed where it is touched.  Nothing in
 * it points outside, so that a file of it can be mapped again tomorrow.
 */
#ifndef CORE_STORE_H
#define CORE_STORE_H

#include "ashlar_heap.h"
#include "backend/heap.h"
#include "life.h"
#include "thread/owner.h"
#include "internal.h"

#define STORE_RECORDS 1024 /* owner records: threads beyond that take the unowned slabs */
#define STRANGERS     64
#define CENSUS_ENTRIES 32768 /* processes whose blocks can be told apart */

/* Remote words, then a tag of 16 bits for each slot, see census.h. */
#define STORE_REMOTE_STRIDE (REMOTE_STRIDE + SLAB_SLOTS * sizeof(uint16_t))

struct store {
	/* These four have this place in every version. */
	uint64_t magic;	  /* see claim.h; STORE_MAGIC is set last            */
	uint64_t version; /* STORE_VERSION                                   */
	uint64_t claim;	  /* life of the thread that made it, or is about to */
	uint64_t world;	  /* its namespaces, see world.h                     */
	struct store *base;
	size_t bytes;
	char *records; /* owner records, STORE_RECORDS of OWNER_BYTES */
	uint64_t *census;
	_Alignas(CPU_LINE) uint64_t records_used;
	uint64_t refused; /* calls that found no record */
	uint64_t strangers[STRANGERS]; /* lives of threads without a record, see building.h */
	uint64_t visits;    /* how often strangers began                               */
	uint64_t crowd;	    /* those who found no place                                */
	uint64_t recoverer; /* life of the thread that looks for lost memory; 0: nobody */
	uint64_t full;	    /* hint: newcomers who found the census full, see census.c      */
	uint64_t lost;	    /* deaths in the middle of such changes, not yet looked after */
	_Alignas(CPU_LINE) struct heap heap;
};
_Static_assert(sizeof(struct store) < PAGE_SIZE, "share_grow writes the page's last byte");

#define STORE_MAGIC ((uint64_t)0x3230726c68736100) /* "\0ashlr02" */

/*
 * The version is computed from the layout, so that no change of it can be
 * forgotten.  STORE_FORMAT is for what no size tells: raise it when words of a
 * store mean something else.
 */
#define STORE_FORMAT	3
#define STORE_MIX(h, x) ((h) * UINT64_C(0xd1342543de82ef95) + (uint64_t)(x))
#define STORE_SIZES                                                                                \
	STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_FORMAT,                  \
		sizeof(struct store)), sizeof(struct owner)), sizeof(struct region)),              \
		sizeof(struct chunk)), sizeof(struct slab)), sizeof(struct heap))
#define STORE_PLACES                                                                               \
	STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_SIZES,                   \
		offsetof(struct store, heap)), offsetof(struct heap, root)),                       \
		offsetof(struct heap, unowned)), offsetof(struct owner, bins)),                     \
		offsetof(struct owner, building)), offsetof(struct slab, free))
#define STORE_COUNTS                                                                               \
	STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_PLACES,                  \
		STORE_RECORDS), STRANGERS), CENSUS_ENTRIES), SLAB_GROUPS), INBOX_WORDS), SPARES)
#define STORE_SHIFTS                                                                               \
	STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_COUNTS,                  \
		CHUNK_SHIFT), UNIT_SHIFT), GROUP_SHIFT), PAGE_SIZE), OWNER_THREAD), OWNER_BYTES)
#define STORE_VERSION                                                                              \
	STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_MIX(STORE_SHIFTS,                  \
		CLASSES), SLOT_MAX), CLASS_LINEAR), SLOT_LARGE), STORE_REMOTE_STRIDE), LIFE_BITS)

static inline struct store *store_of(struct heap *h)
{
	return (struct store *)(void *)((char *)h - offsetof(struct store, heap));
}

/* A new one of n chunks without a file; NULL: no memory, or options->address is taken. */
INTERNAL struct store *store_create(size_t n, const struct ash_heap_options *options);
/* The same in a file that is empty or was left half-made. */
INTERNAL struct store *store_create_file(int fd, size_t n, const struct ash_heap_options *options,
					 enum ash_attach *why);
/* The one in a file; ASH_ATTACH_NO_HEAP: there may be room for one. */
INTERNAL struct store *store_attach(int fd, enum ash_attach *why);
/* The caller's namespaces are those of the heap in the file, in which no process is. */
INTERNAL bool store_adopt(int fd);
/* Out of this process. */
INTERNAL void store_leave(struct store *s);

/* Memory for an owner record; NULL: all are in use. */
INTERNAL void *store_owner(struct heap *h);

/* Where its parts begin, from its base. */
#define STORE_ROUND(n, to) (((n) + (to) - 1) / (to) * (to))
#define CENSUS_AT	   STORE_ROUND(sizeof(struct store), PAGE_SIZE)
#define RECORDS_AT	   (CENSUS_AT + CENSUS_ENTRIES * sizeof(uint64_t))
#define REGION_AT	   (RECORDS_AT + STORE_RECORDS * OWNER_BYTES)

/*
 * Writes all words of store and region that follow from where it stands and how
 * many chunks it has: for one that is made, and to compare with one that is
 * said to be there.
 */
INTERNAL void store_set(struct store *s, struct store *base, size_t n);
INTERNAL void store_set_region(struct region *r, struct store *base, size_t n);

#endif

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
#include "heap.h"
#include "life.h"
#include "owner.h"

#define STORE_RECORDS 1024 /* owner records: threads beyond that take the shared route */
#define STRANGERS     64
#define CENSUS_PLACES 32768 /* processes whose blocks can be told apart */

/* Remote words, then a tag of 16 bits for each slot, see census.h. */
#define STORE_REMOTE_STRIDE (REMOTE_STRIDE + SLAB_SLOTS * sizeof(uint16_t))

struct store {
	uint64_t magic; /* set last */
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
	uint64_t world;     /* the namespaces of those who made it, see world.h             */
	uint64_t full;	    /* hint: newcomers who found the census full, see census.c      */
	uint64_t lost;	    /* deaths in the middle of such changes, not yet looked after */
	_Alignas(CPU_LINE) struct heap heap;
};

static inline struct store *store_of(struct heap *h)
{
	return (struct store *)(void *)((char *)h - offsetof(struct store, heap));
}

/* A new one of n chunks in the file, or without one; at `address`, unless 0. */
struct store *store_create(int fd, size_t n, uintptr_t address,
			   const struct ash_heap_options *options);
struct store *store_attach(int fd, enum ash_attach *why);
/* The caller's namespaces are those of the heap in the file, in which no process is. */
bool store_adopt(int fd);
/* Out of this process. */
void store_leave(struct store *s);

/* Memory for an owner record; NULL: all are in use. */
void *store_owner(struct heap *h);

#endif

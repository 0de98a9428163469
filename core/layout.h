/* SPDX-License-Identifier: MIT */
/*
 * The shape of the heap, before any code.
 *
 * USER MEMORY                                     nothing of ours lies in it
 *
 *   region   |........|........|........|........|     n chunks, one mapping
 *            2 MiB-aligned
 *   chunk    |s|s|s s|s s s s|.................s|      64 units of 32 KiB
 *   slab     [slot][slot][slot][slot]...[slot]  tail   1 ... 32 units
 *   span     |======================|                  a run of whole chunks
 *
 * METADATA                                        in mappings of its own
 *
 *   map      address -> chunk record, two levels: 13 + 13 bits of 2 MiB
 *   region   [region | bitmaps | chunk 0 | chunk 1 | ... | remote words]
 *   chunk    [header | head of each unit | slab 0 | slab 1 | ... | slab 63]
 *   slab     [constants, owner][summary, links, free words]
 *
 *   The slab record of a unit stands at a fixed place, so records are never
 *   allocated, never freed and never another type: a thread that comes late
 *   reads an old record, not garbage.  Metadata is never unmapped.
 *
 * A RELEASE, from pointer to bit
 *
 *   p = 0 .. 0 | 13 bits | 13 bits | 6 bits | 15 bits
 *              |  root   |  leaf   |  unit  |  inside the unit
 *              root[..]->leaf[..]->chunk.head[..]->slab
 *   index = (p - slab.base) / slot size        one multiplication
 *   group = index / 64, bit = index % 64
 *
 * THE BITMAPS ARE THE TRUTH
 *
 *   region.free      bit = 1: the chunk is free
 *   chunk.units      bit = 1: the unit is free (0 in all that is no slab chunk)
 *   slab.free        bit = 1: the slot is free
 *   slab.remote      bit = 1: another thread released the slot; the owner
 *                    has not collected it yet
 *
 *   A slot is taken if and only if both its bits are 0.  Everything else (the
 *   summary, the lists, the inbox, the cursor of a bin, region.partial, the
 *   counters) is a hint that only saves time.
 *
 *   clean bits (region.clean, chunk.clean): the memory is known to read zero.
 *   A lost clean bit costs time; a wrong one would hand out dirt, so it is set
 *   only by whoever holds the memory, and cleared before anything is given out.
 *
 * THE SUMMARY OF A SLAB (one word, its owner's)
 *
 *   bit g       group g may have a free slot    (always set when it has one)
 *   bit 32 + g  a slot of group g was released since the slab was made, or
 *               the slab's memory was not zero: zeroed blocks must be cleared
 *
 * EQUATIONS
 *
 *   slots of a slab  = slots free + slots remote + slots taken
 *   units of a chunk = units free + sum of its slabs' units (+ in flight)
 *   chunks of a region = chunks free + slab chunks + spans' chunks (+ in flight)
 */
#ifndef CORE_LAYOUT_H
#define CORE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

#define CHUNK_SHIFT 21
#define CHUNK_SIZE  ((size_t)1 << CHUNK_SHIFT)
#define UNIT_SHIFT  15
#define UNIT_SIZE   ((size_t)1 << UNIT_SHIFT)
#define CHUNK_UNITS (1 << (CHUNK_SHIFT - UNIT_SHIFT))

#define GROUP_SHIFT 6
#define GROUP_SLOTS (1 << GROUP_SHIFT)
#define SLAB_GROUPS 32
#define SLAB_SLOTS  (SLAB_GROUPS * GROUP_SLOTS)

_Static_assert(CHUNK_SHIFT == CPU_HUGE_SHIFT, "a chunk is one huge page");
_Static_assert(CHUNK_UNITS == 64, "the units of a chunk are one word");
_Static_assert(2 * SLAB_GROUPS == 64, "summary and clearing bits are one word");

/* Of slab.owner: the owner's address, and in its lowest bits: */
#define OWNER_PENDING ((uint64_t)1) /* remote bits wait to be collected, or a thread that
				       released here long ago says so only now: any
				       slab may have it, also a shared one           */
#define OWNER_SHARED  ((uint64_t)2) /* instead of an address: nobody's slab,
				       all use its free words by swaps         */

struct slab {
	/* Constant while the slab lives, but for the owner; read by everybody. */
	uint64_t owner;	       /* 0: no slab here                              */
	char *base;
	uint64_t reciprocal;   /* ceil(2^64 / slot_size)                       */
	uint64_t *remote;      /* `groups` words, on lines of their own        */
	struct chunk *chunk;
	uint32_t slot_size;
	uint32_t slots;
	uint32_t groups;
	uint8_t class;
	uint8_t unit;	       /* first one, in its chunk                      */
	uint8_t units;
	_Alignas(CPU_LINE)
	/* Written by the owner only. */
	uint64_t summary;
	uint64_t full;	       /* the word to watch for, see slab_watch        */
	struct slab *next, *previous;
	uint64_t free[SLAB_GROUPS];
	unsigned opened;       /* groups from here on were never allocated from */
	bool spare;	       /* in owner.spares                              */
};
_Static_assert(sizeof(struct slab) == 6 * CPU_LINE, "not a power of two: records spread over cache sets");
_Static_assert(offsetof(struct slab, summary) == CPU_LINE, "owner's words on lines of their own");

/* Remote words of one slab record; again no power of two. */
#define REMOTE_STRIDE (SLAB_GROUPS * sizeof(uint64_t) + CPU_LINE)

enum chunk_kind {
	CHUNK_FREE,  /* or in flight, or inside a span                      */
	CHUNK_SLABS,
	CHUNK_SPAN   /* the first chunk of a span                           */
};

struct chunk {
	uint64_t units;	       /* bit = 1: free                                */
	uint64_t clean;	       /* bit = 1: free and zero                       */
	uint64_t kind;	       /* enum chunk_kind; published last              */
	char *base;
	struct region *region;
	size_t index;	       /* in its region                                */
	size_t span_bytes;     /* what the user may use                        */
	size_t span_chunks;
	/* Unit -> slab record, in lines from here; 0: no slab. */
	uint16_t head[CHUNK_UNITS];
	/* struct slab slabs[CHUNK_UNITS], in regions that have them */
};
_Static_assert(sizeof(struct chunk) == 3 * CPU_LINE, "slab records begin on a line");
_Static_assert((sizeof(struct chunk) + CHUNK_UNITS * sizeof(struct slab)) / CPU_LINE < 1 << 16,
	       "a record's place fits head[]");

static inline struct slab *chunk_record(struct chunk *c, unsigned unit)
{
	return (struct slab *)(void *)(c + 1) + unit;
}

static inline uint16_t record_place(unsigned unit)
{
	return (uint16_t)((sizeof(struct chunk) + unit * sizeof(struct slab)) / CPU_LINE);
}

static inline struct slab *record_at(struct chunk *c, unsigned place)
{
	return (struct slab *)(void *)((char *)c + place * CPU_LINE);
}

enum region_state {
	REGION_VACANT, /* metadata only: no address space                     */
	REGION_LIVE,
	REGION_CLAIMED /* being set up or taken down by one thread            */
};

struct region {
	struct region *next;   /* in heap.regions; never changes once set      */
	struct heap *heap;
	uint64_t state;	       /* enum region_state                            */
	char *base;
	size_t chunks;	       /* in use                                       */
	size_t capacity;       /* that the metadata has room for               */
	size_t stride;	       /* from one chunk record to the next            */
	char *records;
	char *remote;	       /* NULL: a region for spans only                */
	uint64_t *free;	       /* bit = 1: the chunk is free                   */
	uint64_t *clean;       /* bit = 1: free and zero                       */
	uint64_t *huge;	       /* bit = 1: the kernel was asked for huge pages */
	uint64_t *partial;     /* hint: a slab chunk that may have free units  */
	size_t metadata;       /* bytes of the mapping this stands in          */
};

static inline struct chunk *region_chunk(const struct region *r, size_t index)
{
	return (struct chunk *)(void *)(r->records + index * r->stride);
}

#endif

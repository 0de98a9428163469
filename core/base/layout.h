/* SPDX-License-Identifier: MIT */
/*
 * The data structures of the heap.  Terms: DESIGN.md, glossary.
 *
 * USER MEMORY                                     contains no allocator metadata
 *
 *   region   |........|........|........|........|     n chunks, one mapping
 *            2 MiB-aligned
 *   chunk    |s|s|s s|s s s s|.................s|      64 units of 32 KiB
 *   slab     [slot][slot][slot][slot]...[slot]  tail   1 ... 32 units
 *   span     |======================|                  a run of whole chunks
 *
 * METADATA                                        in mappings of its own
 *
 *   map      address -> chunk record, see map.h
 *   region   [region | bitmaps | chunk 0 | chunk 1 | ... | remote words]
 *   chunk    [header | head of each unit | slab 0 | ... | slab 63 | unowned 0 ... 63]
 *   slab     [constants, owner][hints, links, hold, free words]
 *
 *   The slab record of a unit is at a fixed offset, so records are never
 *   allocated, never freed and never change their type: a thread with a stale
 *   pointer reads an old record, not garbage.  Metadata is never unmapped.  Unowned
 *   slabs have separate records, so a late compare-and-swap never hits a word that
 *   an owner changes by plain stores (unowned.h).
 *
 * A RELEASE, from pointer to bit
 *
 *   p = 0 .. 0 | 14 bits |     18 bits      | 15 bits
 *                        | chunk_map.units[..]->slab     a hint, tried first
 *
 *   p = 0 .. 0 | 13 bits | 13 bits | 6 bits | 15 bits
 *              |  root   |  leaf   |  unit  |  inside the unit
 *              chunk_map.root[..]->chunk[..]->head[..]->slab
 *
 *   index = (p - slab.base) / slot size        one multiplication
 *   group = index / 64, bit = index % 64
 *
 * THE BITMAPS ARE THE TRUTH
 *
 *   region.free      bit = 1: the chunk is free
 *   chunk.units      bit = 1: the unit is free (all 0 if not a slab chunk)
 *   slab.free        bit = 1: the slot is free
 *   slab.remote      bit = 1: another thread released the slot; the owner
 *                    has not collected it yet
 *
 *   A slot is taken if and only if both its bits are 0.  Everything else (the
 *   hints of slabs, the lists, the inbox, the slab of a bin, region.room, region.part,
 *   the counters) is a hint that only saves time.
 *
 *   clean bits (region.clean, chunk.clean): the memory is known to read zero.
 *   A lost clean bit costs time; a wrong clean bit would hand out data of an earlier
 *   block as zeros.  So only the holder of the memory sets the bit, and clears it
 *   before the memory is handed out.
 *
 * THE HINTS OF A SLAB (for its owner only)
 *
 *   ready      bit g: group g has a free slot.  The bit is set before a slot of the
 *              group is freed, and cleared after the last slot is taken: a holder that
 *              vanished in between leaves a bit too many, never a bit too few.
 *   dirty      a slot was released since the slab was made, or the slab's memory was not
 *              zero when it was made: zeroed blocks must be cleared.
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

#define CHUNK_SHIFT 21 /* one huge page, where pages are 4 KiB */
#define CHUNK_SIZE  ((size_t)1 << CHUNK_SHIFT)
#define UNIT_SHIFT  15
#define UNIT_SIZE   ((size_t)1 << UNIT_SHIFT)
#define CHUNK_UNITS (1 << (CHUNK_SHIFT - UNIT_SHIFT))

#define GROUP_SHIFT 6
#define GROUP_SLOTS (1 << GROUP_SHIFT)
#define SLAB_GROUPS 32
#define SLAB_SLOTS  (SLAB_GROUPS * GROUP_SLOTS)

_Static_assert(CHUNK_UNITS == 64, "the units of a chunk are one word");
_Static_assert(SLAB_GROUPS <= 64, "ready is one word");

/* slab.owner is the owner's address, with flags in its lowest bits: */
#define OWNER_PENDING_BIT 0
#define OWNER_PENDING ((uint64_t)1) /* pending bit: remote bits are to be collected.  A thread that
				       released into an earlier slab of this record may set it late: so any
				       record of an owner's slab may have the bit, even without a slab */
#define OWNER_UNOWNED  ((uint64_t)2) /* instead of an address: an unowned slab, see unowned.h */
/* With OWNER_UNOWNED: one thread is making or unmaking the slab, and holds slots of it. */
#define OWNER_CHANGING ((uint64_t)4)
#define OWNER_FLAGS    ((uint64_t)7) /* all flags */

struct slab {
	/* Constant while the slab lives, except the owner; all threads read these. */
	uint64_t owner;	       /* and flags; 0: no slab                        */
	char *base;
	uint64_t reciprocal;   /* ceil(2^64 / slot_size)                       */
	uint64_t slots;
	uint64_t *remote;      /* `groups` words, on separate cache lines      */
	struct chunk *chunk;
	uint32_t slot_size;
	uint32_t groups;
	uint8_t class;
	uint8_t unit;	       /* the first unit, within the chunk             */
	uint8_t units;
	uint32_t made;	       /* counts the slabs of this record, see slab/look.h */
	_Alignas(CPU_LINE)
	/* The owner alone writes these, except `hold`; any thread if the slab is unowned. */
	uint64_t ready;
	uint64_t all_free;     /* the free word that slab_has_event detects, see slab_arm; 0: no word */
	struct slab *next, *previous;
	bool dirty;
	uint8_t spare;	       /* place in owner.spares, from 1 on; 0: not there */
	uint8_t purged;	       /* enum purged, thread/settle.h; written with `hold` */
	uint16_t least;	       /* malloc: the class's smallest size; 0 above 32 KiB */
	uint16_t hollow;       /* free slots when its holes were purged; 0: not purged since the slab was
				  current.  Written with `hold` */
	uint64_t hold;	       /* holder word: the right to take slots, see slab.h */
	uint64_t free[SLAB_GROUPS];
};
_Static_assert(sizeof(struct slab) == 6 * CPU_LINE, "not a power of two: records spread over cache sets");
_Static_assert(offsetof(struct slab, ready) == CPU_LINE, "owner's words on separate cache lines");

/* Bytes from one slab's remote words to the next slab's, like the slab record not a power of two. */
#define REMOTE_STRIDE (SLAB_GROUPS * sizeof(uint64_t) + CPU_LINE)

enum chunk_kind {
	CHUNK_FREE,  /* or being claimed or returned, or inside a span      */
	CHUNK_SLABS,
	CHUNK_SPAN   /* the first chunk of a span                           */
};

struct chunk {
	/*
	 * A unit without a slab maps (head[] = 0) to this header, which is laid out
	 * to look like a slab that rejects every pointer: kind is never the address
	 * of an owner, and the reciprocal is 0.  So a release need not test for 0.
	 */
	uint64_t kind;	       /* enum chunk_kind; published last              */
	char *base;	       /* NULL until the chunk is first used           */
	uint64_t no_reciprocal;
	struct region *region;
	uint64_t units;	       /* bit = 1: free                                */
	uint64_t clean;	       /* bit = 1: free and zero; of a span: 0, or a
				  word of shared_hooks, see backend/shared.h   */
	uint32_t index;	       /* in its region                                */
	uint32_t span_chunks;
	size_t span_bytes;     /* usable bytes                                 */
	/* Unit -> slab record, in bytes from this header; 0: no slab. */
	uint32_t head[CHUNK_UNITS];
	/* A region with slabs continues with struct slab slabs[CHUNK_UNITS], unowned[CHUNK_UNITS]. */
};
_Static_assert(sizeof(struct chunk) == 5 * CPU_LINE, "slab records begin on a line");
_Static_assert(offsetof(struct chunk, kind) == offsetof(struct slab, owner) &&
		       offsetof(struct chunk, no_reciprocal) == offsetof(struct slab, reciprocal),
	       "the header looks like a slab");

#define CHUNK_RECORDS (2 * CHUNK_UNITS)

static inline uint32_t record_offset(unsigned unit)
{
	return (uint32_t)(sizeof(struct chunk) + unit * sizeof(struct slab));
}

/* Like record_offset, for an unowned slab. */
static inline uint32_t record_offset_unowned(unsigned unit)
{
	return record_offset(CHUNK_UNITS + unit);
}

static inline bool record_is_unowned(uint32_t offset)
{
	return offset >= record_offset(CHUNK_UNITS);
}

static inline unsigned record_unit(uint32_t offset)
{
	return (unsigned)((offset - sizeof(struct chunk)) / sizeof(struct slab)) % CHUNK_UNITS;
}

/* Returns true if this value of head[unit] means that a slab begins in the unit. */
static inline bool record_begins(uint32_t offset, unsigned unit)
{
	return offset == record_offset(unit) || offset == record_offset_unowned(unit);
}

static inline struct slab *record_at(struct chunk *c, uint32_t offset)
{
	return (struct slab *)(void *)((char *)c + offset);
}

enum region_state {
	REGION_VACANT, /* metadata only, no address space                     */
	REGION_LIVE,
	REGION_CLAIMED /* being set up or taken down by one thread            */
};

struct region {
	struct region *next;   /* in heap.regions: the next younger region; never changes once set */
	struct region *previous; /* the next older region; never changes       */
	struct heap *heap;
	uint64_t state;	       /* enum region_state                            */
	char *base;
	size_t chunks;	       /* present number of chunks; 0: vacant          */
	size_t stride;	       /* bytes from one chunk record to the next      */
	char *records;
	char *remote;	       /* NULL in a region for spans only              */
	union {
		size_t remote_stride; /* bytes from one slab's remote words to the next's */
		/*
		 * Without remote words.  If not 0, the region is one span's own, with one chunk record and
		 * this number of bytes, a multiple of PAGE_MOST.
		 */
		size_t alone;
	};
	uint64_t *free;	       /* bit = 1: the chunk is free                   */
	uint64_t *clean;       /* bit = 1: free and zero                       */
	uint64_t *known;       /* bit = 1: the chunk's record was set, and may be read; 0: its memory was
				  perhaps never touched */
	uint64_t *room;	       /* hint: a byte per chunk, at least its longest run of free units */
	uint64_t part;	       /* hint: a byte per eighth of room, at least the largest byte of that */
	size_t part_words;     /* words of room in an eighth                   */
	uint8_t *advice;       /* per chunk: enum advice last given to the kernel */
	/* The last two are seldom read: so the others are within reach of a short offset. */
	size_t capacity;       /* chunks that the metadata has room for        */
	size_t metadata;       /* bytes of the mapping that has this record    */
};

#define ROOM_CHUNKS   ((size_t)8) /* chunks in a word of region.room */
#define ROOM_WORDS(n) (((n) + ROOM_CHUNKS - 1) / ROOM_CHUNKS)
#define ROOM_EACH     UINT64_C(0x0101010101010101)
#define ROOM_HIGH     (0x80 * ROOM_EACH)
#define ROOM_PARTS    ((size_t)8) /* bytes of region.part */

/* Returns the bytes of region.room: one thread writes a byte, another thread reads eight at a time. */
static inline uint8_t *region_room(const struct region *r)
{
	return (uint8_t *)r->room;
}

/* Returns the bytes of region.part, used in that way, too. */
static inline uint8_t *region_parts(struct region *r)
{
	return (uint8_t *)&r->part;
}

/* Returns the byte of region.part for this chunk.  Short division, because an index has 32 bits. */
static inline uint8_t *region_part(struct region *r, uint32_t index)
{
	return region_parts(r) + index / (uint32_t)ROOM_CHUNKS / (uint32_t)r->part_words;
}

static inline struct chunk *region_chunk(const struct region *r, size_t index)
{
	return (struct chunk *)(void *)(r->records + index * r->stride);
}

#endif

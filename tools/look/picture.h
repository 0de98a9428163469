/* SPDX-License-Identifier: MIT */
/*
 * A picture: all heaps of a source as they were read, checked word by word.  A slab's slots
 * are two words a group: taken, and released by another thread; free is what is neither.
 */
#ifndef LOOK_PICTURE_H
#define LOOK_PICTURE_H

#include "source.h"

struct heap {
	uint64_t at, id, cap, retain;
	uint64_t hint_dirty, reserved;
	uint64_t regions_at, owners_at;
	bool shared, is_default, is_sane;
	unsigned layout; /* of the picture's modules */
};

struct region {
	uint64_t all; /* chunks of addresses: a region that is one span's own has one record, `chunks` */
	uint64_t at, base, chunks, records, stride, remote, remote_stride, metadata;
	uint64_t *free, *clean; /* words of bits, a bit a chunk */
	uint32_t heap;
	uint32_t first_chunk;	/* in picture.chunks: those in use, by address */
	uint32_t chunk_count;
	uint64_t resident_free; /* bytes of free chunks that are resident */
};

enum chunk_kind { CHUNK_SLABS, CHUNK_SPAN, CHUNK_OTHER };

struct chunk {
	uint64_t base, span_bytes, span_chunks;
	uint64_t units, clean;	/* a bit a unit: free; free and zero */
	uint64_t resident;	/* bytes of it all; of a span: of the whole span */
	uint32_t region, first_slab;
	uint8_t kind, slab_count;
	uint8_t pages[UNITS];	/* resident pieces of each unit, at most 255 */
};

enum { SLAB_UNOWNED = 1, SLAB_CHANGING = 2, SLAB_NO_OWNER = 4 };

struct slab {
	uint64_t base;
	uint64_t owner;		/* address of the record; 0: unowned */
	uint32_t slot_bytes, slots, taken, released;
	uint32_t chunk;
	uint32_t owner_index;	/* in picture.owners; UINT32_MAX: none */
	uint64_t words;		/* in picture.words: taken, released of each group */
	uint16_t class;
	uint8_t unit, units, groups, flags;
};

enum owner_state { OWNER_VACANT, OWNER_LIVES, OWNER_ENDED, OWNER_LIKELY, OWNER_UNKNOWN };

struct owner {
	uint64_t at, state, identity;
	uint32_t heap;
	int pid, tid;		/* 0: not known */
	enum owner_state is;
	bool guest;
	char name[20];
};

/* A heap in memory of the program's own, which may be a block of another heap. */
struct arena {
	uint64_t at, end, base, granules; /* of its memory; of granule 0 */
	uint64_t blocks, taken, longest;  /* granules: in blocks; of the longest free run */
	uint32_t granule;		  /* bytes */
	uint64_t *words;
};

struct picture {
	struct source *source;
	struct module *modules;
	unsigned module_count;
	struct heap *heaps;
	struct region *regions; /* by address */
	struct chunk *chunks;
	struct slab *slabs;
	struct owner *owners;	/* by address */
	uint64_t *words;
	struct arena *arenas;
	size_t arena_count, arena_room;
	size_t heap_count, region_count, chunk_count, slab_count, owner_count, word_count;
	size_t heap_room, region_room, chunk_room, slab_room, owner_room, word_room;
	bool no_memory;		/* for the picture */
	bool resident_known;
	size_t piece;		/* bytes that chunk.pages counts, where that is known: a page, or a unit */
	uint64_t swapped;	/* bytes */
	uint64_t damaged;	/* records that cannot be what a heap has */
	uint64_t restless;	/* of those in a running process: read again, and changing still */
	char damage[160];	/* the first one */
	uint64_t begun, done;	/* rt_now */
	uint64_t chunks_all, chunks_done; /* for progress */
};

static inline const struct layout *picture_layout(const struct picture *p, const struct heap *h)
{
	return &p->modules[h->layout].layout;
}

/* Reads all.  What is wrong is counted in the picture. */
void picture_take(struct picture *p, struct source *s, struct module *modules, unsigned count);
void picture_drop(struct picture *p);

/* Counts a fault, and keeps the text of the first. */
void picture_damaged(struct picture *p, const char *what, uint64_t at);

/* ---- parts, in files of their own ---- */

/* heaps.c: heaps and regions of a module; false: its chunk map leads nowhere. */
void heaps_find(struct picture *p, unsigned module);
/* arena_list.c: the heaps in callers' memory; a block in one: false, if there is none at the address. */
void arenas_read(struct picture *p);
void arenas_drop(struct picture *p);
bool arena_next(const struct arena *a, uint64_t *granule, uint64_t *granules);
/* chunks.c: the chunks in use of a region, and their slabs. */
void chunks_read(struct picture *p, struct region *r);
/* owners.c: the owner records of a heap; then who the holders are. */
void owners_read(struct picture *p, uint32_t heap);
void owners_name(struct picture *p);
struct owner *owner_find(const struct picture *p, uint64_t at);
/* resident.c */
void resident_read(struct picture *p);
/* progress.c: a line on a terminal while it takes long. */
void progress(const char *what, uint64_t done, uint64_t of);
void progress_end(void);

/* Room for one more of an array, doubled where it is full; false: no memory. */
bool room_for(struct picture *p, void *array, size_t *room, size_t count, size_t more, size_t bytes);
#define ROOM(p, name, more)                                                                        \
	room_for(p, &(p)->name##s, &(p)->name##_room, (p)->name##_count, more, sizeof *(p)->name##s)

static inline unsigned count_bits(uint64_t word)
{
	const uint64_t ones = ~UINT64_C(0);

	/* Sums of 2, 4, 8 bits, then of all bytes; the builtin may call a function of gcc's library. */
	word -= word >> 1 & ones / 3;
	word = (word & ones / 5) + (word >> 2 & ones / 5);
	word = (word + (word >> 4)) & ones / 17;
	return (unsigned)(word * (ones / 255) >> 56);
}

static inline bool bit_is_set(const uint64_t *words, uint64_t i)
{
	return (words[i / 64] >> i % 64 & 1) != 0;
}

/* The slots of a group. */
static inline uint64_t group_mask(const struct slab *s, unsigned group)
{
	uint32_t left = s->slots - group * 64;

	return left >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << left) - 1;
}

#endif

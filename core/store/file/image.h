/* SPDX-License-Identifier: MIT */
/*
 * The image of a heap: what a file has of it, read and not mapped.
 *
 * Reading a page that was never written costs no memory, and a file that is truncated, or
 * a full disk, is an answer here and not a signal.  Other processes may be changing the
 * heap meanwhile: what looks wrong is read again by the checks.  Here too is the check
 * of owner records, which tells which of them there are.
 *
 * image_check: whether the heap in a file may be used.  A file may have been written by another program,
 * a failing disk or an attacker.  So before it is mapped, each word that the allocator follows is
 * checked: it must have the one value it can have, or be the address of the right thing in the heap.
 * What is trusted are the bits that say taken or free, counts, hints that only cost time when wrong,
 * and the contents of blocks.  What is in bins, lists, spares and inboxes is not looked at: it is
 * rebuilt, see open.h.  Nor is the list of owner records, which no attached process follows (owner_after).
 *
 *   image_records_check   store, owner records, what these have in flight
 *   image_chunks_check    chunk records, spans
 *   slabs_are_right       units and slab records
 */
#ifndef CORE_IMAGE_H
#define CORE_IMAGE_H

#include "backend/region.h"
#include "store/file/store.h"

/* A chunk's record and the records of its slabs, as the file has them. */
struct image_chunk {
	struct chunk chunk;
	struct slab slab[CHUNK_RECORDS]; /* of owners, then unowned */
};

struct image {
	int fd;
	bool ours; /* of this build's caches (store_caches): else the truth alone is read */
	struct store head;    /* read again for each check                       */
	struct region region; /* computed: its addresses                         */
	struct image_chunk copy;
	struct owner record;
	struct owner_truth truth; /* of this record                             */
	bool known[STORE_RECORDS];  /* this record was found to be an owner      */
	uint64_t bits[]; /* region.free, as many words as there may be, then region.room, then region.known */
};

/* Reads the bytes that the file has for this address in the heap; false: it has fewer. */
INTERNAL bool image_get(const struct image *m, const void *at, void *out, size_t bytes);

/* Reads how many chunks there are.  False: not as many as there can be. */
INTERNAL bool image_read_chunks(struct image *m);
/*
 * True: there are more chunks than when their number was read last, and it is read now.  For
 * what lies beyond the last known chunk: another process may have extended the heap (store_extend).
 */
INTERNAL bool image_has_grown(struct image *m);

/*
 * Reads the bitmaps of chunks.  False: the file ends before, or bits beyond the last chunk
 * are set.
 */
INTERNAL bool image_read_bits(struct image *m);

/* True: the chunk's bit in region.free is set, in what image_read_bits read. */
static inline bool image_is_free(const struct image *m, size_t i)
{
	return (m->bits[i / 64] >> (i % 64)) & 1;
}

/* The word of region.known that has this chunk, in the same. */
static inline uint64_t image_known(const struct image *m, size_t i)
{
	return m->bits[m->region.part_words * (1 + ROOM_PARTS) + i / 64];
}

/* The chunk's byte of region.room, in the same. */
static inline uint8_t image_room(const struct image *m, size_t i)
{
	return ((const uint8_t *)(m->bits + m->region.part_words))[i];
}

/* Addresses in the heap, never followed: of a chunk's record, its memory, an owner record. */
static inline struct chunk *image_chunk_at(const struct image *m, size_t i)
{
	return region_chunk(&m->region, i);
}

static inline char *image_chunk_base(const struct image *m, size_t i)
{
	return m->region.base + (i << CHUNK_SHIFT);
}

static inline const struct owner *image_record(const struct image *m, size_t i)
{
	return (const struct owner *)(const void *)(m->head.records + i * RECORD_BYTES);
}

/* The number of the owner record at this address; false: there is none. */
INTERNAL bool image_record_find(struct image *m, uint64_t address, size_t *i);

/* Reads the store again.  True: store, owner records, inboxes and hints are valid. */
INTERNAL bool image_records_check(struct image *m);

/* ---- image_check.c ---- */

/*
 * head: as read from the file, where the words that store_set writes were compared.
 * False: *why is ASH_ATTACH_NO_HEAP, or ASH_ATTACH_NO_MEMORY.
 */
INTERNAL bool image_check(int fd, const struct store *head, enum ash_attach *why);

/* True: all chunks are valid.  m->bits was read. */
INTERNAL bool image_chunks_check(struct image *m);

#endif

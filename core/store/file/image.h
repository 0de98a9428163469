/* SPDX-License-Identifier: MIT */
/*
 * The image of a heap: the contents of the file, read and not mapped.
 *
 * Reading a page that was never written costs no memory, and a file that is truncated, or a full disk, is an answer
 * here and not a signal.  Other processes may be changing the heap at the same time: the checks read words that look
 * wrong again.  The check of owner records, which finds those that exist, is here, too.
 *
 * image_check finds out whether the heap in a file may be used.  A file may have been written by another program, a
 * failing disk or an attacker.  So before the file is mapped, each word that the allocator follows is checked: the
 * word must have the only possible value, or be the address of the right object in the heap.  The check trusts the
 * bits that say taken or free, counts, hints that only cost time when wrong, and the contents of blocks.  The check
 * does not look at bins, lists, spares and inboxes, because they are rebuilt, see open.h.  Nor does the check look at
 * the list of owner records, which no attached process follows (owner_after).
 *
 *   image_records_check   store, owner records, slots and blocks in flight there
 *   image_chunks_check    chunk records, spans
 *   slabs_are_right       units and slab records
 */
#ifndef CORE_IMAGE_H
#define CORE_IMAGE_H

#include "store/allocator.h"
#include "store/file/store.h"

/* A chunk's record and the records of the chunk's slabs, as read from the file. */
struct image_chunk {
	struct chunk chunk;
	struct slab slab[CHUNK_RECORDS]; /* of owners, then unowned */
};

struct image {
	int fd;
	bool ours; /* with this build's caches (store_caches); otherwise only the truth is read */
	struct store head;    /* read again for each check                       */
	struct region region; /* computed addresses                              */
	struct image_chunk copy;
	struct owner record;
	struct owner_truth truth; /* of the current record                      */
	bool known[STORE_RECORDS];  /* this record was found to be an owner      */
	uint64_t bits[]; /* the words of region.free, as many as possible, then region.room, then region.known */
};

/* Reads the bytes of the file for this address in the heap.  Returns false if the file has fewer bytes. */
INTERNAL bool image_get(const struct image *m, const void *at, void *out, size_t bytes);

/* Reads the number of chunks.  Returns false if that number is impossible. */
INTERNAL bool image_read_chunks(struct image *m);
/*
 * Reads the number of chunks and returns whether it has grown since the last read.  For chunks beyond the last known
 * chunk: another process may have extended the heap (store_extend).
 */
INTERNAL bool image_has_grown(struct image *m);

/* Reads the bitmaps of chunks.  Returns false if the file ends before, or bits beyond the last chunk are set. */
INTERNAL bool image_read_bits(struct image *m);

/* Returns whether the chunk's bit in region.free is set, as image_read_bits read it. */
static inline bool image_is_free(const struct image *m, size_t i)
{
	return (m->bits[i / 64] >> (i % 64)) & 1;
}

/* Returns the word of region.known that has this chunk, as image_read_bits read it. */
static inline uint64_t image_known(const struct image *m, size_t i)
{
	return m->bits[m->region.part_words * (1 + ROOM_PARTS) + i / 64];
}

/* Returns the chunk's byte of region.room, as image_read_bits read it. */
static inline uint8_t image_room(const struct image *m, size_t i)
{
	return ((const uint8_t *)(m->bits + m->region.part_words))[i];
}

/* Addresses in the heap that are never followed: of a chunk's record, of a chunk's memory, of an owner record. */
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

/* Finds the number of the owner record at this address.  Returns false if there is no such record. */
INTERNAL bool image_record_find(struct image *m, uint64_t address, size_t *i);

/* Reads the store again.  Returns whether store, owner records, inboxes and hints are valid. */
INTERNAL bool image_records_check(struct image *m);

/* ---- image_check.c ---- */

/*
 * Checks the heap in a file.  `head` is as read from the file, after the words that store_set writes were compared.
 * Returns false with ASH_ATTACH_NO_HEAP or ASH_ATTACH_NO_MEMORY in *why.
 */
INTERNAL bool image_check(int fd, const struct store *head, enum ash_attach *why);

/* Returns whether all chunks are valid.  m->bits was read. */
INTERNAL bool image_chunks_check(struct image *m);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Views: a heap in a file, mapped to be read only, at any address.
 *
 * The words of the heap are addresses in the processes that use the heap.  A view follows none of these addresses: it
 * computes where a record is from the record's place, and translates the addresses that it reports.  The words may
 * change during the read, or be wrong.  So each word is read once, checked, and then used, and the view reports
 * nothing outside the heap.
 *
 * The mapping is for the program.  The view itself reads the file by its own descriptor: a hole stays a hole (in a
 * tmpfs reading a hole through a mapping allocates it), and a file that was made shorter is an answer, not a signal.
 */
#ifndef CORE_VIEW_H
#define CORE_VIEW_H

#include <stddef.h>
#include <stdint.h>
#include "ashlar_heap.h"
#include "store/allocator.h"
#include "store/file/store.h"

struct ash_heap_view {
	const char *at;	      /* the mapping                                       */
	const char *base;     /* address in the heap's processes                   */
	size_t bytes;
	uint64_t world;	      /* store.world                                       */
	int fd;		      /* the view's own descriptor                         */
	struct region region; /* computed: the addresses in the processes; .chunks is the largest
				 possible number */
};

/* Returns NULL and the reason in *why, or a view, with ASH_ATTACHED or ASH_ATTACH_TORN in *why. */
INTERNAL struct ash_heap_view *view_open(int fd, enum ash_attach *why);
INTERNAL void view_close(struct ash_heap_view *v);

/* Reads the bytes of the file for this address in the heap's processes.  Returns false if the file has fewer bytes. */
INTERNAL bool view_get(const struct ash_heap_view *v, const void *at, void *out, size_t bytes);
/*
 * Reads a word atomically, as if by one load: repeats the read until two reads agree.  Returns 0 if the file has no
 * such word.
 */
INTERNAL uint64_t view_word(const struct ash_heap_view *v, const void *at);
/* Reads n words, at most VIEW_WORDS, each atomically.  Returns false if the file has fewer words. */
enum { VIEW_WORDS = 64 };
INTERNAL bool view_words(const struct ash_heap_view *v, const void *at, uint64_t *out, size_t n);

/* Returns the store in the heap's processes, for the addresses of members. */
static inline const struct store *view_store(const struct ash_heap_view *v)
{
	return (const struct store *)(const void *)v->base;
}

/* Returns the memory of chunk i in the view. */
static inline const char *view_memory(const struct ash_heap_view *v, size_t i)
{
	return v->at + (v->region.base + (i << CHUNK_SHIFT) - v->base);
}

/* Returns the number of chunks. */
INTERNAL size_t view_chunks(const struct ash_heap_view *v);
INTERNAL bool view_chunk_is_free(const struct ash_heap_view *v, size_t i);
/* Returns the last chunk up to i with a known record (region.known), or SIZE_MAX if no such chunk exists. */
INTERNAL size_t view_last_known(const struct ash_heap_view *v, size_t i);
/* Returns the next chunk from i on, of n, that is known and not free, or n if no chunk is. */
INTERNAL size_t view_next_used(const struct ash_heap_view *v, size_t i, size_t n);

/* A chunk's header as it was read, and the record, the words and the slots' tags of the slab that was looked at. */
struct view_chunk {
	struct chunk c;
	struct slab s;
	uint64_t remote[SLAB_GROUPS];
	uint16_t tags[SLAB_SLOTS];
};

/* Reads the span that begins in chunk i.  Returns false if no span does. */
struct view_span {
	size_t chunks, bytes;
	uint64_t tag;
};
INTERNAL bool view_span(const struct ash_heap_view *v, size_t i, struct view_chunk *there, struct view_span *out);

/*
 * Looks, in *there, at the slab that has the unit of chunk i; *unit becomes the slab's first unit.  Returns false if
 * there is no slab.
 */
INTERNAL bool view_slab(const struct ash_heap_view *v, size_t i, unsigned *unit, struct view_chunk *there,
			struct look *out);

/*
 * Returns the block that a slot names, like intent_read, or 0 if the slot names no block.  `slot` is the address in
 * the heap's processes; `mapped` is the address in the view if the slot is to be read there, or NULL.
 */
INTERNAL uint64_t view_read(const struct ash_heap_view *v, const void *slot, const uint64_t *mapped);

/* Returns the process of the block with this tag, by its tag in the census. */
INTERNAL uint64_t view_owner(const struct ash_heap_view *v, uint16_t tag);
INTERNAL bool view_process_is_over(const struct ash_heap_view *v, uint64_t life);
/*
 * Reads the program's tags of the slots of a group.  `unit` is the begin of the slab.  Valid for slots with TAG_KIND
 * in the census tag.
 */
INTERNAL void view_kinds(const struct ash_heap_view *v, size_t i, unsigned unit, unsigned group,
			 unsigned char out[GROUP_SLOTS]);

/* Returns whether `bytes` at p, an address in the heap's processes, lie in the heap. */
static inline bool view_has(const struct ash_heap_view *v, uint64_t p, size_t bytes)
{
	uint64_t offset = p - (uintptr_t)v->base;

	return offset != 0 && offset <= v->bytes && bytes <= v->bytes - offset;
}

/* A name in the heap, for names.c, which writes names, and for views. */

/* The number of words of the directory, and the most names of a bucket that a search passes in a forged file. */
enum { NAME_BUCKETS = 1024, NAME_STEPS = 1 << 20 };

struct name {
	uint64_t next;
	uint64_t value; /* the slot */
	uint64_t hash;
	uint64_t length;
	char text[];
};

/* Returns the bytes of a name, or 0 for a name that is too long. */
static inline size_t name_length(const char *name)
{
	size_t n = 0;

	while (n <= ASH_NAME_MAX && name[n] != '\0')
		n++;
	return n <= ASH_NAME_MAX ? n : 0;
}

static inline uint64_t name_hash(const char *text, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (length-- > 0)
		hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

#endif

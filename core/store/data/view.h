/* SPDX-License-Identifier: MIT */
/*
 * Views: a heap in a file, mapped to be read only, at any address.
 *
 * The words of the heap are addresses where its processes have it.  A view follows none of
 * them: it computes where a record is from its place, and translates what it reports.  What
 * it reads may be changed meanwhile, or be wrong: so each word is read once, checked, and
 * then used, and nothing outside the heap is told.
 *
 * The mapping is for the program.  The view itself reads the file, by its own descriptor: a hole stays one (in a
 * tmpfs reading it through a mapping allocates it), and a file that was made shorter is an answer, not a signal.
 */
#ifndef CORE_VIEW_H
#define CORE_VIEW_H

#include <stddef.h>
#include <stdint.h>
#include "ashlar_heap.h"
#include "slab/look.h"
#include "store/file/store.h"

struct ash_heap_view {
	const char *at;	      /* the mapping                                       */
	const char *base;     /* where the heap's processes have it                */
	size_t bytes;
	uint64_t world;	      /* store.world                                       */
	int fd;		      /* of the view's own                                 */
	struct region region; /* computed: its addresses, as the processes have it;
				 .chunks: as many as there may be                  */
};

/* NULL: *why is the reason.  Else it is ASH_ATTACHED or ASH_ATTACH_TORN. */
INTERNAL struct ash_heap_view *view_open(int fd, enum ash_attach *why);
INTERNAL void view_close(struct ash_heap_view *v);

/* Reads what the file has for this address in the heap's processes.  False: it has fewer bytes. */
INTERNAL bool view_get(const struct ash_heap_view *v, const void *at, void *out, size_t bytes);
/* Reads a word.  Atomic, as if by one load: it is read until it is the same twice.  0: the file has none. */
INTERNAL uint64_t view_word(const struct ash_heap_view *v, const void *at);
/* The same of n words, at most VIEW_WORDS: each is atomic.  False: the file has fewer. */
enum { VIEW_WORDS = 64 };
INTERNAL bool view_words(const struct ash_heap_view *v, const void *at, uint64_t *out, size_t n);

/* The store in the heap's processes, for its members' addresses. */
static inline const struct store *view_store(const struct ash_heap_view *v)
{
	return (const struct store *)(const void *)v->base;
}

/* The memory of chunk i, in the view. */
static inline const char *view_memory(const struct ash_heap_view *v, size_t i)
{
	return v->at + (v->region.base + (i << CHUNK_SHIFT) - v->base);
}

/* The number of chunks that there are. */
INTERNAL size_t view_chunks(const struct ash_heap_view *v);
INTERNAL bool view_chunk_is_free(const struct ash_heap_view *v, size_t i);
/* The last chunk up to i whose record is known (region.known); SIZE_MAX: none. */
INTERNAL size_t view_last_known(const struct ash_heap_view *v, size_t i);
/* The next chunk from i on, of n, that is known and not free; n: none. */
INTERNAL size_t view_next_used(const struct ash_heap_view *v, size_t i, size_t n);

/* A chunk's header, as it was read; of the slab that was looked at: its record, its words, its slots' tags. */
struct view_chunk {
	struct chunk c;
	struct slab s;
	uint64_t remote[SLAB_GROUPS];
	uint16_t tags[SLAB_SLOTS];
};

/* A span that begins in chunk i.  False: none does. */
struct view_span {
	size_t chunks, bytes;
	uint64_t tag;
};
INTERNAL bool view_span(const struct ash_heap_view *v, size_t i, struct view_chunk *there, struct view_span *out);

/*
 * A look, in *there, at the slab that has the unit of chunk i; *unit becomes its first.  False: no slab.
 */
INTERNAL bool view_slab(const struct ash_heap_view *v, size_t i, unsigned *unit, struct view_chunk *there,
			struct look *out);

/*
 * The block that a slot names, as intent_read; 0: none.  slot: in the heap's processes; mapped: where the view
 * has it, if it is to be read there, or NULL.
 */
INTERNAL uint64_t view_read(const struct ash_heap_view *v, const void *slot, const uint64_t *mapped);

/* Whose block with this tag is, by its tag in the census. */
INTERNAL uint64_t view_owner(const struct ash_heap_view *v, uint16_t tag);
INTERNAL bool view_process_is_over(const struct ash_heap_view *v, uint64_t life);
/* The program's tags of the slots of a group; unit: where the slab begins.  Of a slot whose census tag has TAG_KIND. */
INTERNAL void view_kinds(const struct ash_heap_view *v, size_t i, unsigned unit, unsigned group,
			 unsigned char out[GROUP_SLOTS]);

/* True: `bytes` at p, where the heap's processes have it, lie in the heap. */
static inline bool view_has(const struct ash_heap_view *v, uint64_t p, size_t bytes)
{
	uint64_t offset = p - (uintptr_t)v->base;

	return offset != 0 && offset <= v->bytes && bytes <= v->bytes - offset;
}

/* A name as it lies in the heap: for names.c, which writes it, and for views. */

/* Words of the directory; names in a bucket that a search passes, in a forged file. */
enum { NAME_BUCKETS = 1024, NAME_STEPS = 1 << 20 };

struct name {
	uint64_t next;
	uint64_t value; /* the slot */
	uint64_t hash;
	uint64_t length;
	char text[];
};

/* Bytes of a name; 0: it is too long. */
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

/* SPDX-License-Identifier: MIT */
/*
 * Views: a heap in a file, mapped to be read only, at any address.
 *
 * The words of the heap are addresses where its processes have it.  A view follows none of
 * them: it computes where a record is from its place, and translates what it reports.  What
 * it reads may be changed meanwhile, or be wrong: so each word is read once, checked, and
 * then used, and nothing outside the mapping is reached.
 */
#ifndef CORE_VIEW_H
#define CORE_VIEW_H

#include "ashlar_heap.h"
#include "shm/store.h"
#include "slab/look.h"

struct ash_heap_view {
	const char *at;	      /* the mapping                                       */
	const char *base;     /* where the heap's processes have it                */
	size_t bytes;
	struct region region; /* computed: its addresses, as the processes have it;
				 .chunks: as many as there may be                  */
};

/* NULL: *why is the reason.  Else it is ASH_ATTACHED or ASH_ATTACH_TORN. */
INTERNAL struct ash_heap_view *view_open(int fd, enum ash_attach *why);
INTERNAL void view_close(struct ash_heap_view *v);

/* Where the view has what the heap's processes have at p, within the heap. */
static inline const void *view_at(const struct ash_heap_view *v, const void *p)
{
	return v->at + ((const char *)p - v->base);
}

static inline const struct store *view_store(const struct ash_heap_view *v)
{
	return (const struct store *)(const void *)v->at;
}

static inline const struct chunk *view_chunk(const struct ash_heap_view *v, size_t i)
{
	return view_at(v, region_chunk(&v->region, i));
}

/* The memory of chunk i. */
static inline const char *view_memory(const struct ash_heap_view *v, size_t i)
{
	return view_at(v, v->region.base + (i << CHUNK_SHIFT));
}

/* The number of chunks that there are. */
INTERNAL size_t view_chunks(const struct ash_heap_view *v);
INTERNAL bool view_chunk_is_free(const struct ash_heap_view *v, size_t i);

/* A span that begins in chunk i.  False: none does. */
struct view_span {
	size_t chunks, bytes;
	uint64_t tag;
};
INTERNAL bool view_span(const struct ash_heap_view *v, size_t i, struct view_span *out);

/* A look at the slab that has the unit of chunk i; *unit becomes its first.  False: no slab. */
INTERNAL bool view_slab(const struct ash_heap_view *v, size_t i, unsigned *unit, struct look *out);

/* The block that a slot names, as intent_read; 0: none.  slot: where the view has it. */
INTERNAL uint64_t view_read(const struct ash_heap_view *v, const uint64_t *slot);

/* Whose block with this tag is, by its tag in the census. */
INTERNAL uint64_t view_owner(const struct ash_heap_view *v, uint16_t tag);
/* The program's tag of the slot, whose census tag has TAG_KIND; unit: where the slab begins. */
INTERNAL unsigned char view_kind(const struct ash_heap_view *v, size_t i, unsigned unit, size_t index);

/* `bytes` at p, where the heap's processes have it; NULL: not within the heap. */
static inline const void *view_part(const struct ash_heap_view *v, uint64_t p, size_t bytes)
{
	uint64_t offset = p - (uintptr_t)v->base;

	return offset == 0 || offset > v->bytes || bytes > v->bytes - offset ? NULL : v->at + offset;
}

/* The tag of a slot (census.h). */
static inline uint16_t view_tag(const struct look *l, size_t index)
{
	/* Pairs with intent_tag_block, as in kind_of: view_kind reads the byte after it. */
	return load_acquire((const uint16_t *)(const void *)((const char *)l->remote +
							     REMOTE_STRIDE) + index);
}

#endif

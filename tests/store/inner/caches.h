/* SPDX-License-Identifier: MIT */
/* All in a heap's file that is not the truth (store/file/store.h), overwritten. */
#ifndef TESTS_STORE_INNER_CACHES_H
#define TESTS_STORE_INNER_CACHES_H

#include "rt.h"
#include "store/process/share.h"
#include "store/file/image.h"
#include "syscall.h"

/* r: NULL: by zeros. */
static inline void caches_fill(void *at, size_t length, struct rt_random *r)
{
	unsigned char *b = at;
	size_t i;

	for (i = 0; i < length; i++)
		b[i] = r == NULL ? 0 : (unsigned char)rt_next(r);
}

static inline void caches_overwrite_chunk(struct chunk *c, struct rt_random *r)
{
	struct slab *slab = (struct slab *)(void *)(c + 1);
	size_t i;

	for (i = 0; i < CHUNK_RECORDS; i++, slab++)
		if (slab->groups != 0)
			caches_fill(&slab->all_free, offsetof(struct slab, free) - offsetof(struct slab, all_free), r);
}

/* number: becomes that of the caches. */
static inline void caches_overwrite(int fd, size_t bytes, struct rt_random *random, uint64_t number)
{
	struct store *s = NOT_NULL(share_map_anywhere(fd, bytes, true));
	struct region here = {0}, *r = (struct region *)(void *)((char *)s + REGION_AT);
	size_t n = s->heap.own.cap >> CHUNK_SHIFT, chunks = r->chunks, i, rest = offsetof(struct heap, slab_chunks);
	uint64_t id = s->heap.id;

	store_set_region(&here, s, n);
	caches_fill(&s->heap, offsetof(struct heap, root), random);
	s->heap.id = id;
	caches_fill((char *)&s->heap + rest, PAGE_LEAST - offsetof(struct store, heap) - rest, random);
	for (i = 0; i < s->records_used; i++)
		caches_fill((char *)s + RECORDS_AT + i * RECORD_BYTES, TRUTH_AT, random);
	caches_fill(r, sizeof *r, random);
	r->chunks = chunks;
	caches_fill(here.room, here.part_words * ROOM_PARTS * sizeof *here.room, random);
	caches_fill(here.advice, here.capacity, random);
	for (i = 0; i < chunks; i++)
		if (bits_all(here.known, i, 1))
			caches_overwrite_chunk(region_chunk(&here, i), random);
	s->caches = number;
	CHECK_EQ(arch_munmap(s, bytes), 0);
}

#endif

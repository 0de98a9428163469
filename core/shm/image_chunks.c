/* SPDX-License-Identifier: MIT */
#include "shm/image_chunks.h"

#include "shm/image_slabs.h"

/* A chunk that another process is changing looks wrong, but not so many times in a row. */
enum { CHUNK_ATTEMPTS = 8 };

/* True: the words that follow from the place of the chunk are right, or 0 if it was never used. */
static bool chunk_place_is_right(const struct image *m, size_t i)
{
	const struct chunk *c = &m->copy.chunk;
	bool used = c->kind != CHUNK_FREE;

	return c->kind <= CHUNK_SPAN && c->no_reciprocal == 0 &&
	       (c->base == image_chunk_base(m, i) || (!used && c->base == NULL)) &&
	       /* A search follows a hint above 0 to the record: chunk_hint writes by its region and index. */
	       (c->region == m->head.heap.regions || (!used && c->region == NULL && image_room(m, i) == 0)) &&
	       (c->index == i || (!used && c->index == 0)) &&
	       (c->units == 0 || c->kind == CHUNK_SLABS);
}

/* Reads the chunk's record into m->copy; false: it is wrong in itself. */
static bool chunk_read(struct image *m, size_t i)
{
	return image_get(m, image_chunk_at(m, i), &m->copy.chunk, sizeof m->copy.chunk) &&
	       chunk_place_is_right(m, i);
}

/* True: a unit of the chunk has a slab record. */
static bool has_heads(const struct chunk *c)
{
	uint32_t any = 0;
	unsigned u;

	for (u = 0; u < CHUNK_UNITS; u++)
		any |= c->head[u];
	return any != 0;
}

/* One attempt.  *n: chunks of the span that begins there, or 1. */
static bool chunk_is_right(struct image *m, size_t i, size_t *n)
{
	const struct chunk *c = &m->copy.chunk;
	size_t k;

	*n = 1;
	if (!chunk_read(m, i) || (image_is_free(m, i) && c->kind != CHUNK_FREE))
		return false;
	if (c->kind == CHUNK_SLABS)
		return image_get(m, image_chunk_at(m, i), &m->copy, sizeof m->copy) &&
		       image_slabs_check(m, i);
	if (has_heads(c))
		return false;
	if (c->kind != CHUNK_SPAN)
		return true;
	*n = c->span_chunks;
	if (*n == 0 || *n > m->region.chunks - i || c->span_bytes == 0 ||
	    c->span_bytes > *n << CHUNK_SHIFT || c->span_bytes % PAGE_MOST != 0)
		return false;
	for (k = 1; k < *n; k++)
		if (image_is_free(m, i + k) || !chunk_read(m, i + k) || c->kind != CHUNK_FREE ||
		    has_heads(c))
			return false;
	return true;
}

bool image_chunks_check(struct image *m)
{
	size_t i, n;
	unsigned attempt;

	for (i = 0; i < m->region.chunks; i += n) {
		for (attempt = 0; !chunk_is_right(m, i, &n); attempt++) {
			(void)image_has_grown(m); /* a span may end in chunks that are new */
			if (attempt == CHUNK_ATTEMPTS || !image_read_bits(m))
				return false;
		}
	}
	return true;
}

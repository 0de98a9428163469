/* SPDX-License-Identifier: MIT */
#include "store/allocator.h"
#include "store/file/image.h"

#include "memory.h"
#include "pages.h"
#include "store/file/store.h"

/* ---- units and slab records ---- */

/* Returns the slab record at this offset in the records of the chunk that was read. */
static const struct slab *slab_of(const struct image *m, uint32_t offset)
{
	return (const struct slab *)(const void *)((const char *)&m->copy + offset);
}

/* Returns whether the words that follow from class, units and offset are right, and no bit is set beyond the last slot. */
static bool slab_is_right(struct image *m, size_t i, uint32_t offset)
{
	const struct slab *s = slab_of(m, offset);
	struct look l = look_begin(s);
	unsigned u = record_unit(offset);
	uint64_t remote[SLAB_GROUPS];
	const char *at;
	unsigned g;

	if (!look_is_slab(&l, u, false) || s->unit != u ||
	    s->reciprocal != class_reciprocal(s->slot_size) || s->chunk != image_chunk_at(m, i) ||
	    s->base != image_chunk_base(m, i) + ((size_t)u << UNIT_SHIFT) ||
	    (m->ours && s->ready >> s->groups != 0))
		return false;
	at = m->region.remote + (i * CHUNK_UNITS + u) * m->region.remote_stride;
	if ((const char *)s->remote != at ||
	    !image_get(m, at, remote, s->groups * sizeof remote[0]))
		return false;
	for (g = 0; g < s->groups; g++)
		if (((s->free[g] | remote[g]) & ~slab_group_mask(s, g)) != 0)
			return false;
	return true;
}

static bool is_all_free(const struct slab *s)
{
	unsigned g;

	for (g = 0; g < s->groups; g++)
		if (s->free[g] != slab_group_mask(s, g))
			return false;
	return true;
}

/* Returns whether all units of the slab have the slab's record, and the slab is unowned or has an existing owner. */
static bool slab_is_there_right(struct image *m, uint32_t offset)
{
	const struct slab *s = slab_of(m, offset);
	uint64_t owner = s->owner & ~OWNER_PENDING;
	unsigned u = record_unit(offset), i;
	size_t record;

	for (i = 0; i < s->units; i++)
		if (m->copy.chunk.head[u + i] != offset)
			return false;
	if (record_is_unowned(offset))
		return (owner & ~OWNER_CHANGING) == OWNER_UNOWNED;
	return image_record_find(m, owner, &record);
}

/* Returns whether a bit of the free words is set.  The record may have no slab. */
static bool has_free(const struct slab *s)
{
	uint64_t any = 0;
	unsigned g;

	for (g = 0; g < SLAB_GROUPS; g++)
		any |= s->free[g];
	return any != 0;
}

/*
 * Checks a unit without a slab.  If an owner's slab is being made or unmade there, all slots are free; if some are
 * taken, the slab existed and the unit was erased.  An unowned slab that is not published has no free slot.
 */
static bool unit_is_right(struct image *m, size_t i, unsigned u)
{
	const struct slab *s = slab_of(m, record_offset(u));

	return !has_free(slab_of(m, record_offset_unowned(u))) &&
	       (((m->copy.chunk.units >> u) & 1) != 0 || s->owner <= OWNER_PENDING ||
		s->groups > SLAB_GROUPS || s->chunk != image_chunk_at(m, i) || is_all_free(s));
}

static bool slabs_are_right(struct image *m, size_t i)
{
	const struct chunk *c = &m->copy.chunk;
	unsigned u, first;

	for (u = 0; u < CHUNK_UNITS; u++) {
		uint32_t offset = c->head[u];

		if (offset == 0) {
			if (!unit_is_right(m, i, u))
				return false;
			continue;
		}
		first = record_unit(offset);
		if (first > u || !record_begins(offset, first) || ((c->units >> u) & 1) != 0)
			return false;
		/* A slab that is being made or unmade has some of the units, but not the first. */
		if ((first == u || c->head[first] != offset) && !slab_is_right(m, i, offset))
			return false;
		if (first == u && !slab_is_there_right(m, offset))
			return false;
		if (first != u && u >= first + slab_of(m, offset)->units)
			return false;
	}
	return true;
}

/* ---- chunk records, spans ---- */

/* A chunk that another process is changing looks wrong, but not this number of times in a row. */
enum { CHUNK_ATTEMPTS = 8 };

/*
 * Returns whether the chunk's kind agrees with the words of a span.  Only the kind may be wrong, and then a live
 * block would count as free.  Therefore a chunk of slabs has no span's chunks, and a thread that releases or is about
 * to make a span clears the tag first: a death leaves chunks of a span without a tag.  renew_slabs clears the words
 * that other builds leave.
 */
static bool chunk_use_is_right(const struct image *m, const struct chunk *c)
{
	return !m->ours || c->kind == CHUNK_SPAN || c->span_chunks == 0 ||
	       (c->kind == CHUNK_FREE && c->clean == 0);
}

/* Returns whether the words that follow from the place of the chunk are right, or 0 if the chunk was never used. */
static bool chunk_place_is_right(const struct image *m, size_t i)
{
	const struct chunk *c = &m->copy.chunk;
	bool used = c->kind != CHUNK_FREE;

	return c->kind <= CHUNK_SPAN && c->no_reciprocal == 0 &&
	       (c->base == image_chunk_base(m, i) || (!used && c->base == NULL)) &&
	       /* A search follows a hint above 0 to the record: chunk_hint writes by the record's region and index. */
	       ((const char *)c->region == (const char *)m->head.base + REGION_AT ||
		(!used && c->region == NULL && image_room(m, i) == 0)) &&
	       (c->index == i || (!used && c->index == 0)) &&
	       (c->units == 0 || c->kind == CHUNK_SLABS) && chunk_use_is_right(m, c);
}

/* Reads the chunk's record into m->copy.  Returns false if the record is wrong in itself. */
static bool chunk_read(struct image *m, size_t i)
{
	return image_get(m, image_chunk_at(m, i), &m->copy.chunk, sizeof m->copy.chunk) &&
	       chunk_place_is_right(m, i);
}

/* Returns whether a unit of the chunk has a slab record. */
static bool has_heads(const struct chunk *c)
{
	uint32_t any = 0;
	unsigned u;

	for (u = 0; u < CHUNK_UNITS; u++)
		any |= c->head[u];
	return any != 0;
}

/* Makes one attempt.  Sets *n to the chunks of the span that begins there, or to 1. */
static bool chunk_is_right(struct image *m, size_t i, size_t *n)
{
	const struct chunk *c = &m->copy.chunk;
	size_t k;

	*n = 1;
	/* A walk, such as that of an attaching process, passes over chunks that are not known: region_know comes first. */
	if (!chunk_read(m, i) || (c->kind != CHUNK_FREE &&
				  (image_is_free(m, i) || (image_known(m, i) >> (i % 64) & 1) == 0)))
		return false;
	if (c->kind == CHUNK_SLABS)
		return image_get(m, image_chunk_at(m, i), &m->copy, sizeof m->copy) &&
		       slabs_are_right(m, i);
	if (has_heads(c))
		return false;
	if (c->kind != CHUNK_SPAN)
		return true;
	*n = c->span_chunks;
	if (*n == 0 || *n > m->region.chunks - i || c->span_bytes == 0 ||
	    c->span_bytes > *n << CHUNK_SHIFT || c->span_bytes % (m->ours ? PAGE_MOST : PAGE_LEAST) != 0)
		return false;
	for (k = 1; k < *n; k++)
		if (image_is_free(m, i + k) || !chunk_read(m, i + k) || c->kind != CHUNK_FREE ||
		    has_heads(c))
			return false;
	return true;
}

/* Returns whether none of the 64 chunks from i on needs a check. */
static bool is_unused_word(const struct image *m, size_t i)
{
	const uint64_t *room = m->bits + m->region.part_words + i / ROOM_CHUNKS;
	uint64_t any = ~m->bits[i / 64] | image_known(m, i);
	unsigned k;

	for (k = 0; k < 64 / ROOM_CHUNKS; k++)
		any |= room[k];
	return any == 0;
}

/*
 * Returns the next chunk from i on that a search, a walk or a look-up may come to: the chunk is in use, the record is
 * known, or a hint leads there.  The records of all other chunks are cleared before they are read (run_made).
 */
static size_t next_to_check(const struct image *m, size_t i)
{
	for (; i < m->region.chunks; i++) {
		if (i % 64 == 0)
			while (i + 64 <= m->region.chunks && is_unused_word(m, i))
				i += 64;
		if (i < m->region.chunks && (!image_is_free(m, i) || image_room(m, i) != 0 ||
					     (image_known(m, i) >> (i % 64) & 1) != 0))
			break;
	}
	return i;
}

bool image_chunks_check(struct image *m)
{
	size_t i, n;
	unsigned attempt;

	for (i = 0; (i = next_to_check(m, i)) < m->region.chunks; i += n) {
		for (attempt = 0; !chunk_is_right(m, i, &n); attempt++) {
			(void)image_has_grown(m); /* a span may end in new chunks */
			if (attempt == CHUNK_ATTEMPTS || !image_read_bits(m))
				return false;
		}
	}
	return true;
}

/* ---- all of it ---- */

/* A heap that other processes are changing may look wrong, but not each time. */
enum { CHECKS = 4 };

static bool is_right(struct image *m)
{
	return image_read_chunks(m) && image_records_check(m) && image_read_bits(m) && image_chunks_check(m);
}

bool image_check(int fd, const struct store *head, enum ash_attach *why)
{
	size_t n = head->heap.own.cap >> CHUNK_SHIFT, words = bits_words(n) * (2 + ROOM_PARTS);
	size_t bytes = (sizeof(struct image) + words * sizeof(uint64_t) + PAGE_MOST - 1) &
		       ~(PAGE_MOST - 1);
	struct image *m = pages_reserve(bytes, PAGE_LEAST, PAGES_PRIVATE);
	bool right = false;
	unsigned i;

	*why = ASH_ATTACH_NO_MEMORY;
	if (m == NULL)
		return false;
	m->fd = fd;
	m->ours = head->caches == store_caches();
	memcpy(&m->head, head, sizeof *head);
	store_set_region(&m->region, head->base, n);
	for (i = 0; i < CHECKS && !right; i++)
		right = is_right(m);
	(void)pages_release(m, bytes);
	*why = ASH_ATTACH_NO_HEAP;
	return right;
}

/* SPDX-License-Identifier: MIT */
#include "shm/image.h"

#include "memory.h"
#include "share.h"

bool image_get(const struct image *m, const void *at, void *out, size_t bytes)
{
	size_t offset = (uintptr_t)at - (uintptr_t)m->head.base;

	if (m->mapped == NULL)
		return share_read(m->fd, out, bytes, offset) == bytes;
	if (offset > m->bytes || bytes > m->bytes - offset)
		return false;
	memcpy(out, m->mapped + offset, bytes);
	return true;
}

bool image_read_chunks(struct image *m)
{
	size_t n;

	if (!image_get(m, (char *)m->head.base + REGION_AT + offsetof(struct region, chunks), &n,
		       sizeof n) || n - 1 >= m->region.capacity)
		return false;
	m->region.chunks = n;
	return true;
}

bool image_has_grown(struct image *m)
{
	size_t before = m->region.chunks;

	/* Pairs with store_extend: what led here was written after the number. */
	fence_acquire();
	return image_read_chunks(m) && m->region.chunks > before;
}

static bool read_bits(struct image *m)
{
	size_t n = m->region.chunks, words = bits_words(n), i;
	size_t rooms = m->region.part_words * ROOM_PARTS; /* all: a search may look at each */
	uint64_t tail = n % 64 == 0 ? 0 : ~bits_run(0, (unsigned)(n % 64));

	if (!image_get(m, m->region.free, m->bits, words * sizeof(uint64_t)) ||
	    !image_get(m, m->region.room, m->bits + m->region.part_words, rooms * sizeof(uint64_t)))
		return false;
	for (i = 0; i < rooms * ROOM_CHUNKS; i++)
		if (image_room(m, i) > (i < n ? CHUNK_UNITS : 0))
			return false;
	return (m->bits[words - 1] & tail) == 0;
}

bool image_read_bits(struct image *m)
{
	do
		if (read_bits(m))
			return true;
	while (image_has_grown(m));
	return false;
}

bool image_record_find(struct image *m, uint64_t address, size_t *i)
{
	uint64_t offset = address - (uintptr_t)m->head.records;
	struct heap *h;

	*i = offset / OWNER_BYTES;
	if (*i >= STORE_RECORDS || offset % OWNER_BYTES != 0)
		return false;
	if (!m->known[*i])
		m->known[*i] = image_get(m, &image_record(m, *i)->heap, &h, sizeof h) &&
			       h == &m->head.base->heap;
	return m->known[*i];
}

bool image_has_record(struct image *m, const struct slab *s, bool unowned)
{
	size_t offset = (uintptr_t)s - (uintptr_t)m->region.records;
	size_t at = offset % m->region.stride, inner = at - sizeof(struct chunk);

	return (offset / m->region.stride < m->region.chunks ||
		(image_has_grown(m) && offset / m->region.stride < m->region.chunks)) &&
	       inner < CHUNK_RECORDS * sizeof(struct slab) && inner % sizeof(struct slab) == 0 &&
	       record_is_unowned((uint32_t)at) == unowned;
}

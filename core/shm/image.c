/* SPDX-License-Identifier: MIT */
#include "shm/image.h"

#include "share.h"

bool image_get(const struct image *m, const void *at, void *out, size_t bytes)
{
	size_t offset = (uintptr_t)at - (uintptr_t)m->head.base;

	return share_read(m->fd, out, bytes, offset) == bytes;
}

bool image_read_bits(struct image *m)
{
	size_t words = bits_words(m->region.chunks), beyond = m->region.chunks % 64;
	uint64_t tail = beyond == 0 ? 0 : ~bits_run(0, (unsigned)beyond);

	return image_get(m, m->region.free, m->bits, words * sizeof(uint64_t)) &&
	       image_get(m, m->region.partial, m->bits + words, words * sizeof(uint64_t)) &&
	       ((m->bits[words - 1] | m->bits[2 * words - 1]) & tail) == 0;
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

bool image_has_record(const struct image *m, const struct slab *s, bool unowned)
{
	size_t offset = (uintptr_t)s - (uintptr_t)m->region.records;
	size_t at = offset % m->region.stride, inner = at - sizeof(struct chunk);

	return offset / m->region.stride < m->region.chunks &&
	       inner < CHUNK_RECORDS * sizeof(struct slab) && inner % sizeof(struct slab) == 0 &&
	       record_is_unowned((uint32_t)at) == unowned;
}

/* SPDX-License-Identifier: MIT */
#include "shm/image_slabs.h"

/* The slab record at this offset in the records of the chunk that was read. */
static const struct slab *slab_of(const struct image *m, uint32_t offset)
{
	return (const struct slab *)(const void *)((const char *)&m->copy + offset);
}

/* True: what follows from class, units and offset is so, and no bit is set beyond the last slot. */
static bool slab_is_right(struct image *m, size_t i, uint32_t offset)
{
	const struct slab *s = slab_of(m, offset);
	unsigned u = record_unit(offset);
	uint64_t remote[SLAB_GROUPS];
	const char *at;
	unsigned g;

	if (s->class >= CLASSES || s->unit != u ||
	    (s->units != class_units(s->class, true) && s->units != class_units(s->class, false)) ||
	    (class_is_aligned(s->class) && u % s->units != 0) || u + s->units > CHUNK_UNITS ||
	    s->slot_size != class_size(s->class) || s->slots != class_slots(s->class, s->units) ||
	    s->groups != (s->slots + GROUP_SLOTS - 1) / GROUP_SLOTS ||
	    s->reciprocal != class_reciprocal(s->slot_size) || s->chunk != image_chunk_at(m, i) ||
	    s->base != image_chunk_base(m, i) + ((size_t)u << UNIT_SHIFT) ||
	    s->opened > s->groups || (uint64_t)s->ready >> s->groups != 0)
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

/* True: all units of the slab have its record, and it is unowned or has an owner that exists. */
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
	if (!image_record_find(m, owner, &record))
		return false;
	m->slabs[record]++;
	return true;
}

/* True: a bit of the free words is set.  The record may have no slab. */
static bool has_free(const struct slab *s)
{
	uint64_t any = 0;
	unsigned g;

	for (g = 0; g < SLAB_GROUPS; g++)
		any |= s->free[g];
	return any != 0;
}

/*
 * A unit without a slab.  If an owner's slab is being made or unmade there, all its slots
 * are free; if some are taken, the slab existed and its unit was erased.  An unowned slab
 * that is not published has no free slot.
 */
static bool unit_is_right(struct image *m, size_t i, unsigned u)
{
	const struct slab *s = slab_of(m, record_offset(u));

	return !has_free(slab_of(m, record_offset_unowned(u))) &&
	       (((m->copy.chunk.units >> u) & 1) != 0 || s->owner <= OWNER_PENDING ||
		s->groups > SLAB_GROUPS || s->chunk != image_chunk_at(m, i) || is_all_free(s));
}

bool image_slabs_check(struct image *m, size_t i)
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
		/*
		 * A slab that is being made or unmade has some of its units, but not the first
		 * one.
		 */
		if ((first == u || c->head[first] != offset) && !slab_is_right(m, i, offset))
			return false;
		if (first == u && !slab_is_there_right(m, offset))
			return false;
		if (first != u && u >= first + slab_of(m, offset)->units)
			return false;
	}
	return true;
}

/* SPDX-License-Identifier: MIT */
#include "store/file/image.h"

#include "memory.h"
#include "store/process/share.h"
#include "store/recover/intent.h"

bool image_get(const struct image *m, const void *at, void *out, size_t bytes)
{
	return share_read(m->fd, out, bytes, (uintptr_t)at - (uintptr_t)m->head.base) == bytes;
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

	/* Pairs with store_extend: the words that led here were written after the number. */
	fence_acquire();
	return image_read_chunks(m) && m->region.chunks > before;
}

static bool read_bits(struct image *m)
{
	size_t n = m->region.chunks, words = bits_words(n), i;
	size_t rooms = m->region.part_words * ROOM_PARTS, all = m->region.part_words; /* a search may look at each word */
	uint64_t *room = m->bits + all;
	uint64_t tail = n % 64 == 0 ? 0 : ~bits_run(0, (unsigned)(n % 64));

	if (!image_get(m, m->region.free, m->bits, words * sizeof(uint64_t)) ||
	    !image_get(m, m->region.room, m->bits + all, rooms * sizeof(uint64_t)) ||
	    !image_get(m, m->region.known, m->bits + all + rooms, words * sizeof(uint64_t)))
		return false;
	if (!m->ours)
		memset(room, 0, rooms * sizeof *room);
	for (i = 0; i < rooms * ROOM_CHUNKS; i += room[i / ROOM_CHUNKS] == 0 ? ROOM_CHUNKS - i % ROOM_CHUNKS : 1)
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
	uint64_t offset = address - (uintptr_t)m->head.records, made;

	*i = offset / RECORD_BYTES;
	if (*i >= STORE_RECORDS || offset % RECORD_BYTES != 0)
		return false;
	if (!m->known[*i] && m->ours) /* the chunk may be new */
		m->known[*i] = image_get(m, &m->head.base->made[*i / 64], &made, sizeof made) &&
			       (made >> (*i % 64) & 1) != 0;
	return m->known[*i];
}

/* Returns whether the address is 0 or lies in the heap's chunks. */
static bool may_be_in_flight(struct image *m, uint64_t p)
{
	do
		if (p == 0 || p - (uintptr_t)m->region.base < m->region.chunks << CHUNK_SHIFT)
			return true;
	while (image_has_grown(m));
	return false;
}

static bool may_be_slot(struct image *m, uint64_t p)
{
	do
		if (intent_may_change(&m->head, &m->region, p))
			return true;
	while (image_has_grown(m));
	return false;
}

/* Returns whether each address that is followed in an intent of this kind may be that of a slot or block. */
static bool intent_is_right(struct image *m, const struct intent *i)
{
	uint64_t kind = i->state & INTENT_KIND;

	if (kind >= INTENT_KINDS)
		return false;
	if (kind == INTENT_IDLE)
		return true;
	return may_be_in_flight(m, i->fresh) && may_be_in_flight(m, i->old) &&
	       ((kind != INTENT_ARMED && kind != INTENT_DONE) || may_be_slot(m, i->slot));
}

static bool intents_are_right(struct image *m)
{
	bool right = true;
	unsigned i;

	for (i = 0; i < INTENTS; i++)
		right &= intent_is_right(m, &m->truth.intents[i]);
	return right;
}

static bool record_is_right(struct image *m, size_t i)
{
	const struct owner *o = &m->record;

	if (!image_get(m, truth_of(image_record(m, i)), &m->truth, sizeof m->truth) ||
	    !may_be_in_flight(m, m->truth.flight) || !intents_are_right(m))
		return false;
	m->known[i] = !m->ours || store_owner_is_made(&m->head, i); /* those of another build are made again */
	return !m->ours || !m->known[i] ||
	       (image_get(m, image_record(m, i), &m->record, sizeof m->record) && o->no_slots == 0 &&
		o->heap == &m->head.base->heap);
}

/*
 * Returns whether each record that is made is reserved; otherwise others would find a record that is not cleared yet
 * (store_owner).
 */
static bool made_are_right(const struct image *m)
{
	uint64_t beyond = 0;
	size_t i;

	for (i = m->head.records_used; i < STORE_RECORDS; i = (i / 64 + 1) * 64)
		beyond |= m->head.made[i / 64] >> i % 64;
	return beyond == 0;
}

bool image_records_check(struct image *m)
{
	size_t i;

	if (!image_get(m, m->head.base, &m->head, sizeof m->head))
		return false;
	/* By another system call, because a record is first reserved and then made.  Pairs with store_owner_made. */
	fence_acquire();
	if (!image_get(m, &m->head.base->records_used, &m->head.records_used, sizeof m->head.records_used) ||
	    m->head.records_used > STORE_RECORDS || (m->ours && !made_are_right(m)))
		return false;
	for (i = 0; i < m->head.records_used; i++)
		if (!record_is_right(m, i))
			return false;
	return true;
}

/* SPDX-License-Identifier: MIT */
#include "shm/sound.h"

#include "memory.h"
#include "pages.h"
#include "backend/region.h"
#include "share.h"

enum { LOOKS = 8, SURVEYS = 4 };

/* A chunk's record as the file has it. */
struct copy {
	struct chunk chunk;
	struct slab slab[CHUNK_RECORDS]; /* owners', then nobody's */
};

struct survey {
	int fd;
	struct store head;    /* read again for each survey          */
	struct region region; /* as it must be: its addresses        */
	struct copy copy;
	struct owner record;
	bool known[STORE_RECORDS];  /* what is said to be an owner is one */
	bool vacant[STORE_RECORDS]; /* held by nobody: its lists count    */
	bool listed_wrong;	    /* a list, or what it lists           */
	/* Slabs of each vacant record: those that are there less those on its lists. */
	uint32_t slabs[STORE_RECORDS];
	uint64_t begun; /* sum of what counts changes to lists, at the beginning */
	uint64_t bits[];	    /* region.free, then region.partial   */
};

/* ---- reading ---- */

/* What the file has where this would stand. */
static bool get(const struct survey *q, const void *at, void *out, size_t bytes)
{
	size_t offset = (uintptr_t)at - (uintptr_t)q->head.base;

	return share_read(q->fd, out, bytes, offset) == bytes;
}

static struct chunk *chunk_at(const struct survey *q, size_t i)
{
	return region_chunk(&q->region, i);
}

static char *chunk_base(const struct survey *q, size_t i)
{
	return q->region.base + (i << CHUNK_SHIFT);
}

static bool is_free(const struct survey *q, size_t i)
{
	return (q->bits[i / 64] >> (i % 64)) & 1;
}

static const struct owner *record_at_index(const struct survey *q, size_t i)
{
	return (const struct owner *)(const void *)(q->head.records + i * OWNER_BYTES);
}

/* The owner record at the address; false: there is none. */
static bool record_find(struct survey *q, uint64_t address, size_t *i)
{
	uint64_t offset = address - (uintptr_t)q->head.records;
	struct heap *h;

	*i = offset / OWNER_BYTES;
	if (*i >= STORE_RECORDS || offset % OWNER_BYTES != 0)
		return false;
	if (!q->known[*i])
		q->known[*i] = get(q, &record_at_index(q, *i)->heap, &h, sizeof h) &&
			       h == &q->head.base->heap;
	return q->known[*i];
}

/* The address is that of a record for an owner's slab, or for one of nobody's. */
static bool is_slab_record(const struct survey *q, const struct slab *s, bool unowned)
{
	size_t offset = (uintptr_t)s - (uintptr_t)q->region.records;
	size_t place = offset % q->region.stride, inner = place - sizeof(struct chunk);

	return offset / q->region.stride < q->region.chunks &&
	       inner < CHUNK_RECORDS * sizeof(struct slab) && inner % sizeof(struct slab) == 0 &&
	       record_is_unowned((uint32_t)place) == unowned;
}

/* ---- slabs ---- */

static uint64_t mask_of(const struct slab *s, unsigned g)
{
	return slab_group_mask(s, g);
}

/* The record that stands at this place of the chunk's records, and the unit it is for. */
static const struct slab *slab_of(const struct survey *q, uint32_t place)
{
	return (const struct slab *)(const void *)((const char *)&q->copy + place);
}

/* What follows from class, units and place; its words stay below its slots. */
static bool slab_is_right(struct survey *q, size_t i, uint32_t place)
{
	const struct slab *s = slab_of(q, place);
	unsigned u = record_unit(place);
	uint64_t remote[SLAB_GROUPS];
	const char *at;
	unsigned g;

	if (s->class >= CLASSES || s->unit != u ||
	    (s->units != class_units(s->class, true) && s->units != class_units(s->class, false)) ||
	    (bits_is_power(s->units) && u % s->units != 0) || u + s->units > CHUNK_UNITS ||
	    s->slot_size != class_size(s->class) || s->slots != class_slots(s->class, s->units) ||
	    s->groups != (s->slots + GROUP_SLOTS - 1) / GROUP_SLOTS ||
	    s->reciprocal != class_reciprocal(s->slot_size) || s->chunk != chunk_at(q, i) ||
	    s->base != chunk_base(q, i) + ((size_t)u << UNIT_SHIFT) || s->opened > s->groups ||
	    (uint64_t)s->ready >> s->groups != 0)
		return false;
	at = q->region.remote + (i * CHUNK_UNITS + u) * q->region.remote_stride;
	if ((const char *)s->remote != at || !get(q, at, remote, s->groups * sizeof remote[0]))
		return false;
	for (g = 0; g < s->groups; g++)
		if (((s->free[g] | remote[g]) & ~mask_of(s, g)) != 0)
			return false;
	return true;
}

static bool is_all_free(const struct slab *s)
{
	unsigned g;

	for (g = 0; g < s->groups; g++)
		if (s->free[g] != mask_of(s, g))
			return false;
	return true;
}

/* A slab that begins here: an owner's or nobody's, and all its units lead to it. */
static bool slab_is_there_right(struct survey *q, uint32_t place)
{
	const struct slab *s = slab_of(q, place);
	uint64_t owner = s->owner & ~OWNER_PENDING;
	unsigned u = record_unit(place), i;
	size_t record;

	for (i = 0; i < s->units; i++)
		if (q->copy.chunk.head[u + i] != place)
			return false;
	if (record_is_unowned(place))
		return (owner & ~OWNER_CHANGING) == OWNER_UNOWNED;
	if (!record_find(q, owner, &record))
		return false;
	q->slabs[record]++;
	return true;
}

static bool has_free(const struct slab *s)
{
	uint64_t any = 0;
	unsigned g;

	for (g = 0; g < SLAB_GROUPS; g++)
		any |= s->free[g];
	return any != 0;
}

/*
 * A unit without a slab.  Where an owner's comes or goes right now all its slots
 * are free; if some are taken, it was there.  Of nobody's none is, while it is not there.
 */
static bool unit_is_right(struct survey *q, size_t i, unsigned u)
{
	const struct slab *s = slab_of(q, record_offset(u));

	return !has_free(slab_of(q, record_offset_unowned(u))) &&
	       (((q->copy.chunk.units >> u) & 1) != 0 || s->owner <= OWNER_PENDING ||
		s->groups > SLAB_GROUPS || s->chunk != chunk_at(q, i) || is_all_free(s));
}

static bool slab_chunk_is_right(struct survey *q, size_t i)
{
	const struct chunk *c = &q->copy.chunk;
	unsigned u, first;

	for (u = 0; u < CHUNK_UNITS; u++) {
		uint32_t place = c->head[u];

		if (place == 0) {
			if (!unit_is_right(q, i, u))
				return false;
			continue;
		}
		first = record_unit(place);
		if (first > u || !record_begins(place, first) || ((c->units >> u) & 1) != 0)
			return false;
		/* Of a slab that comes or goes some units lead to it, and the first does not. */
		if ((first == u || c->head[first] != place) && !slab_is_right(q, i, place))
			return false;
		if (first == u && !slab_is_there_right(q, place))
			return false;
		if (first != u && u >= first + slab_of(q, place)->units)
			return false;
	}
	return true;
}

/* ---- chunks ---- */

/* Where it was never used, its own words are 0. */
static bool chunk_place_is_right(const struct survey *q, size_t i)
{
	const struct chunk *c = &q->copy.chunk;
	bool used = c->kind != CHUNK_FREE;

	return c->kind <= CHUNK_SPAN && c->no_reciprocal == 0 &&
	       (c->base == chunk_base(q, i) || (!used && c->base == NULL)) &&
	       (c->region == q->head.heap.regions || (!used && c->region == NULL)) &&
	       (c->index == i || (!used && c->index == 0)) &&
	       (c->units == 0 || c->kind == CHUNK_SLABS);
}

static bool has_heads(const struct chunk *c)
{
	uint32_t any = 0;
	unsigned u;

	for (u = 0; u < CHUNK_UNITS; u++)
		any |= c->head[u];
	return any != 0;
}

/* One look.  *n: chunks of the span that begins there, or 1. */
static bool chunk_is_right(struct survey *q, size_t i, size_t *n)
{
	const struct chunk *c = &q->copy.chunk;
	size_t k;

	*n = 1;
	if (!get(q, chunk_at(q, i), &q->copy.chunk, sizeof q->copy.chunk) ||
	    !chunk_place_is_right(q, i) || (is_free(q, i) && c->kind != CHUNK_FREE))
		return false;
	if (c->kind == CHUNK_SLABS)
		return get(q, chunk_at(q, i), &q->copy, sizeof q->copy) &&
		       slab_chunk_is_right(q, i);
	if (has_heads(c))
		return false;
	if (c->kind != CHUNK_SPAN)
		return true;
	*n = c->span_chunks;
	if (*n == 0 || *n > q->region.chunks - i || c->span_bytes == 0 ||
	    c->span_bytes > *n << CHUNK_SHIFT || c->span_bytes % PAGE_SIZE != 0)
		return false;
	for (k = 1; k < *n; k++)
		if (is_free(q, i + k) ||
		    !get(q, chunk_at(q, i + k), &q->copy.chunk, sizeof q->copy.chunk) ||
		    !chunk_place_is_right(q, i + k) || c->kind != CHUNK_FREE || has_heads(c))
			return false;
	return true;
}

static bool bits_get(struct survey *q)
{
	size_t words = bits_words(q->region.chunks), beyond = q->region.chunks % 64;
	uint64_t tail = beyond == 0 ? 0 : ~bits_run(0, (unsigned)beyond);

	return get(q, q->region.free, q->bits, words * sizeof(uint64_t)) &&
	       get(q, q->region.partial, q->bits + words, words * sizeof(uint64_t)) &&
	       ((q->bits[words - 1] | q->bits[2 * words - 1]) & tail) == 0;
}

static bool chunks_are_right(struct survey *q)
{
	size_t i, n;
	unsigned look;

	for (i = 0; i < q->region.chunks; i += n) {
		for (look = 0; !chunk_is_right(q, i, &n); look++)
			if (look == LOOKS || !bits_get(q))
				return false;
	}
	return true;
}

/* ---- records ---- */

/* In the heap's chunks, or nowhere. */
static bool may_be_in_flight(const struct survey *q, uint64_t p)
{
	return p == 0 || p - (uintptr_t)q->region.base < q->region.chunks << CHUNK_SHIFT;
}

/* A vacant record holds no slab but by its lists, which are looked at later. */
static void note_lists(struct survey *q, size_t i)
{
	const struct owner *o = &q->record;
	unsigned class;

	q->vacant[i] = true;
	q->listed_wrong |= o->spare_count != 0;
	for (class = 0; class < CLASSES; class++)
		q->listed_wrong |= o->bins[class].slab != NULL || o->bins[class].word != 0;
}

/* Letters lead to slab records; where a slab's owner is this record, the slab is there. */
static bool letters_are_right(struct survey *q)
{
	const struct owner *o = &q->record;
	unsigned i;

	if ((o->pending_classes[1] & ~bits_run(0, CLASSES - 64)) != 0)
		return false;
	for (i = 0; i < INBOX_SLABS; i++)
		if (o->pending_slabs[i] != 0 &&
		    !is_slab_record(q, (const struct slab *)(uintptr_t)o->pending_slabs[i], false))
			return false;
	return true;
}

static bool record_is_right(struct survey *q, size_t i)
{
	const struct owner *o = &q->record;

	if (!get(q, record_at_index(q, i), &q->record, sizeof q->record) || o->no_slots != 0 ||
	    !may_be_in_flight(q, o->flight) || !letters_are_right(q))
		return false;
	q->begun += o->building;
	/* Taken and not entered yet: see look_at_records. */
	if (o->heap != &q->head.base->heap)
		return o->heap == NULL;
	if (o->state == OWNER_VACANT)
		note_lists(q, i);
	return true;
}

/* The list of owners has each record once at most. */
static bool owners_are_right(struct survey *q)
{
	bool met[STORE_RECORDS] = {false};
	const struct owner *o = q->head.heap.owners;
	size_t i;

	while (o != NULL) {
		if (!record_find(q, (uintptr_t)o, &i) || met[i] ||
		    !get(q, &o->next, &o, sizeof o))
			return false;
		met[i] = true;
	}
	return true;
}

static bool hints_are_right(const struct survey *q)
{
	unsigned class;

	for (class = 0; class < CLASSES; class++)
		if (q->head.heap.unowned[class] != NULL &&
		    !is_slab_record(q, q->head.heap.unowned[class], true))
			return false;
	return true;
}

/* Store and records; read anew. */
static bool records_are_right(struct survey *q)
{
	size_t i;

	if (!get(q, q->head.base, &q->head, sizeof q->head) ||
	    q->head.records_used > STORE_RECORDS)
		return false;
	q->listed_wrong = false;
	memset(q->vacant, 0, sizeof q->vacant);
	memset(q->slabs, 0, sizeof q->slabs);
	q->begun = q->head.visits;
	for (i = 0; i < q->head.records_used; i++)
		if (!record_is_right(q, i))
			return false;
	return owners_are_right(q) && hints_are_right(q);
}

/* ---- lists of vacant records ---- */

static bool list_is_right(struct survey *q, size_t i, unsigned class, const struct slabs *l,
			  bool some_free)
{
	const struct slab *s, *before = NULL;
	struct slab *there = &q->copy.slab[0];

	for (s = l->head; s != NULL; before = s, s = there->next) {
		if (q->slabs[i]-- == 0 || !is_slab_record(q, s, false) ||
		    !get(q, s, there, sizeof *there) || there->previous != before ||
		    (there->owner & ~OWNER_PENDING) != (uintptr_t)record_at_index(q, i) ||
		    there->class != class || slab_is_ready(there) != some_free)
			return false;
	}
	return l->tail == before;
}

static bool lists_are_right(struct survey *q)
{
	unsigned class;
	size_t i;

	for (i = 0; i < STORE_RECORDS && !q->listed_wrong; i++) {
		if (!q->vacant[i])
			continue;
		if (!get(q, record_at_index(q, i), &q->record, sizeof q->record))
			return false;
		for (class = 0; class < CLASSES && !q->listed_wrong; class++)
			q->listed_wrong =
				!list_is_right(q, i, class, &q->record.lists[class].partial,
					       true) ||
				!list_is_right(q, i, class, &q->record.lists[class].full,
					       false);
		q->listed_wrong |= q->slabs[i] != 0;
	}
	return !q->listed_wrong;
}

/* Somebody is alive and at work: then lists are in the middle of changes, and his. */
static bool is_disturbed(struct survey *q)
{
	uint64_t now, building;
	size_t i, used = q->head.records_used;

	if (!get(q, &q->head.base->visits, &now, sizeof now))
		return false;
	for (i = 0; i < used; i++) {
		if (!get(q, &record_at_index(q, i)->building, &building, sizeof building))
			return false;
		now += building;
	}
	return now != q->begun;
}

/* ---- all of it ---- */

static bool is_right(struct survey *q)
{
	return records_are_right(q) && bits_get(q) && chunks_are_right(q) &&
	       (lists_are_right(q) || is_disturbed(q));
}

bool sound(int fd, const struct store *head, enum ash_attach *why)
{
	size_t n = head->heap.reserved, words = 2 * bits_words(n);
	size_t bytes = (sizeof(struct survey) + words * sizeof(uint64_t) + PAGE_SIZE - 1) &
		       ~(PAGE_SIZE - 1);
	struct survey *q = pages_reserve(bytes, PAGE_SIZE, PAGES_PRIVATE);
	bool right = false;
	unsigned i;

	*why = ASH_ATTACH_NO_MEMORY;
	if (q == NULL)
		return false;
	q->fd = fd;
	memcpy(&q->head, head, sizeof *head);
	store_set_region(&q->region, head->base, n);
	for (i = 0; i < SURVEYS && !right; i++)
		right = is_right(q);
	(void)pages_release(q, bytes);
	*why = ASH_ATTACH_NO_HEAP;
	return right;
}

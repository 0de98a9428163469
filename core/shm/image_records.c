/* SPDX-License-Identifier: MIT */
#include "shm/image_records.h"

#include "memory.h"
#include "shm/intent.h"

/* True: the address is 0 or lies in the heap's chunks. */
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

/* True: each address that is followed in an intent of this kind may be that of a slot or block. */
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
		right &= intent_is_right(m, &m->record.intents[i]);
	return right;
}

/* True: the record has no spares, as a vacant one has none. */
static bool is_without_spares(const struct owner *o)
{
	uint64_t any = o->spare_units;
	unsigned i;

	for (i = 0; i < SPARES; i++)
		any |= (uintptr_t)o->spares[i];
	for (i = 0; i < SPARE_COUNTS; i++)
		any |= o->large[i];
	return any == 0 && o->spare_next < SPARES;
}

/* A vacant record has no slabs but those on its lists, which image_lists_check compares. */
static void note_lists(struct image *m, size_t i)
{
	const struct owner *o = &m->record;
	uint64_t any = 0;
	unsigned class;

	m->vacant[i] = true;
	m->listed_wrong |= !is_without_spares(o);
	for (class = 0; class < CLASSES; class++) {
		const struct bin *l = &o->bins[class];

		m->listed_wrong |= o->bins[class].slab != NULL || o->bins[class].word != 0;
		any |= (uintptr_t)l->partial.head | (uintptr_t)l->full.head;
	}
	m->listless[i] = any == 0;
}

/* True: each inbox entry is the address of an owner's slab record. */
static bool inbox_is_right(struct image *m)
{
	const struct owner *o = &m->record;
	unsigned i;

	if ((o->pending_classes[1] & ~bits_run(0, CLASSES - 64)) != 0)
		return false;
	for (i = 0; i < INBOX_SLABS; i++)
		if (o->pending_slabs[i] != 0 &&
		    !image_has_record(m, (const struct slab *)(uintptr_t)o->pending_slabs[i],
				      false))
			return false;
	return true;
}

static bool record_is_right(struct image *m, size_t i)
{
	const struct owner *o = &m->record;

	if (!image_get(m, image_record(m, i), &m->record, sizeof m->record) || o->no_slots != 0 ||
	    !may_be_in_flight(m, o->flight) || !intents_are_right(m) || !inbox_is_right(m))
		return false;
	m->begun += o->building;
	/* A record that was reserved and not entered yet has no heap (examine_records). */
	if (o->heap != &m->head.base->heap)
		return o->heap == NULL;
	m->known[i] = true;
	m->next[i] = o->next;
	if (o->state == OWNER_VACANT)
		note_lists(m, i);
	return true;
}

/* True: the list of owners has each record at most once. */
static bool owners_are_right(struct image *m)
{
	const struct owner *o = m->head.heap.owners;
	size_t i;

	memset(m->met, 0, sizeof m->met);
	while (o != NULL) {
		if (!image_record_find(m, (uintptr_t)o, &i) || m->met[i])
			return false;
		m->met[i] = true;
		if (i < m->head.records_used)
			o = m->next[i];
		else if (!image_get(m, &o->next, &o, sizeof o))
			return false;
	}
	return true;
}

/* True: the hint is the address of an owner record, or NULL. */
static bool may_be_next(struct image *m, const struct owner *o)
{
	size_t i;

	return o == NULL || image_record_find(m, (uintptr_t)o, &i);
}

/* True: each hint for unowned slabs is the address of a record for these, and the others of owners. */
static bool hints_are_right(struct image *m)
{
	unsigned class;

	if (!may_be_next(m, m->head.heap.adopt_next) || !may_be_next(m, m->head.heap.reap_next))
		return false;

	for (class = 0; class < CLASSES; class++)
		if (m->head.heap.unowned[class] != NULL &&
		    !image_has_record(m, m->head.heap.unowned[class], true))
			return false;
	return true;
}

bool image_records_check(struct image *m)
{
	size_t i;

	if (!image_get(m, m->head.base, &m->head, sizeof m->head) ||
	    m->head.records_used > STORE_RECORDS)
		return false;
	m->listed_wrong = false;
	memset(m->vacant, 0, sizeof m->vacant);
	memset(m->slabs, 0, sizeof m->slabs);
	m->begun = m->head.visits;
	for (i = 0; i < m->head.records_used; i++)
		if (!record_is_right(m, i))
			return false;
	return owners_are_right(m) && hints_are_right(m);
}

/* SPDX-License-Identifier: MIT */
#include "shm/view.h"

#include "pages.h"
#include "share.h"
#include "shm/intent.h"
#include "shm/kinds.h"
#include "shm/seal.h"
#include "shm/store_attach.h"

#define VIEW_BYTES ((sizeof(struct ash_heap_view) + PAGE_MOST - 1) & ~(PAGE_MOST - 1))

struct ash_heap_view *view_open(int fd, enum ash_attach *why)
{
	struct ash_heap_view *v;
	struct store head;

	if (!store_look(fd, &head, why))
		return NULL;
	*why = ASH_ATTACH_NO_MEMORY;
	v = pages_reserve(VIEW_BYTES, PAGE_LEAST, PAGES_PRIVATE);
	if (v == NULL)
		return NULL;
	v->base = (const char *)head.base;
	v->bytes = head.bytes;
	store_set_region(&v->region, head.base, head.heap.own.cap >> CHUNK_SHIFT);
	v->at = share_map_anywhere(fd, v->bytes, false);
	if (v->at == NULL) {
		(void)pages_release(v, VIEW_BYTES);
		return NULL;
	}
	*why = seal_is_torn(head.seal) ? ASH_ATTACH_TORN : ASH_ATTACHED;
	return v;
}

void view_close(struct ash_heap_view *v)
{
	(void)pages_release((void *)(uintptr_t)v->at, v->bytes);
	(void)pages_release(v, VIEW_BYTES);
}

size_t view_chunks(const struct ash_heap_view *v)
{
	const struct region *r = (const struct region *)(const void *)(v->at + REGION_AT);
	size_t n = load_acquire(&r->chunks); /* pairs with store_extend */

	return n < v->region.chunks ? n : v->region.chunks;
}

bool view_chunk_is_free(const struct ash_heap_view *v, size_t i)
{
	const uint64_t *word = view_at(v, &v->region.free[i / 64]);

	return (load_acquire(word) >> (i % 64)) & 1; /* pairs with bits_release */
}

bool view_span(const struct ash_heap_view *v, size_t i, struct view_span *out)
{
	const struct chunk *c = view_chunk(v, i);

	if (load_acquire(&c->kind) != CHUNK_SPAN) /* pairs with the release of a new span's kind */
		return false;
	out->chunks = load_relaxed(&c->span_chunks);
	out->bytes = load_relaxed(&c->span_bytes);
	out->tag = load_relaxed(&c->clean);
	fence_acquire();
	return load_relaxed(&c->kind) == CHUNK_SPAN && out->chunks - 1 < v->region.chunks - i &&
	       out->bytes - 1 < out->chunks << CHUNK_SHIFT;
}

/* True: the members are those of a slab that may begin in the unit. */
static bool shape_is_right(const struct look *l, unsigned unit)
{
	return l->class < CLASSES &&
	       (l->units == class_units(l->class, true) || l->units == class_units(l->class, false)) &&
	       l->size == class_size(l->class) && l->slots == class_slots(l->class, l->units) &&
	       l->groups == (l->slots + GROUP_SLOTS - 1) / GROUP_SLOTS &&
	       unit + l->units <= CHUNK_UNITS;
}

bool view_slab(const struct ash_heap_view *v, size_t i, unsigned *unit, struct look *out)
{
	const struct chunk *c = view_chunk(v, i);
	uint32_t place;
	unsigned first;

	if (load_acquire(&c->kind) != CHUNK_SLABS) /* pairs with chunk_make */
		return false;
	place = load_acquire(&c->head[*unit]); /* pairs with the slab's publication */
	first = place == 0 ? CHUNK_UNITS : record_unit(place);
	if (first > *unit || !record_begins(place, first))
		return false;
	*out = look_begin((const struct slab *)(const void *)((const char *)c + place));
	out->base = (char *)(uintptr_t)view_memory(v, i) + ((size_t)first << UNIT_SHIFT);
	out->unowned = record_is_unowned(place);
	out->remote = view_at(v, v->region.remote +
					 (i * CHUNK_UNITS + first) * v->region.remote_stride);
	*unit = first;
	return shape_is_right(out, first);
}

/* The owner record of this number. */
static const struct owner *record_of(const struct ash_heap_view *v, uint64_t n)
{
	return (const struct owner *)(const void *)(v->at + RECORDS_AT + n * OWNER_BYTES);
}

/* True: *fresh is what the change with this mark puts into its slot. */
static bool view_change(const struct ash_heap_view *v, uint64_t mark, uint64_t *fresh)
{
	uint64_t number = mark >> MARK_NUMBER & ((1 << (MARK_USE - MARK_NUMBER)) - 1);
	const struct intent *i = &record_of(v, number / INTENTS)->intents[number % INTENTS];

	if (load_acquire(&i->state) / INTENT_USE << MARK_USE >> MARK_USE != mark >> MARK_USE)
		return false; /* pairs with intent_set */
	*fresh = load_relaxed(&i->fresh);
	fence_acquire(); /* pairs with the claim of the next use */
	return load_relaxed(&i->state) / INTENT_USE << MARK_USE >> MARK_USE == mark >> MARK_USE;
}

uint64_t view_read(const struct ash_heap_view *v, const uint64_t *slot)
{
	/* Pairs with intent_complete and ash_heap_set_root: what the slot names is complete. */
	uint64_t word = load_acquire(slot), mark, fresh;

	while ((word & MARK) != 0) {
		mark = word;
		/* The change has happened: the slot has what the intent says, if it is still that one. */
		if (view_change(v, mark, &fresh))
			return fresh;
		/* Else the slot got it before: each further attempt is another thread's change. */
		word = load_acquire(slot);
		if (word == mark)
			return 0; /* in a forged file: a mark of no intent */
	}
	return word;
}

uint64_t view_owner(const struct ash_heap_view *v, uint16_t tag)
{
	uint64_t record = (tag & TAG_PROCESS) / INTENTS, process;

	if ((tag & TAG_LEAVING) == 0)
		return tag & TAG_PROCESS;
	if (record >= STORE_RECORDS)
		return TAG_UNKNOWN;
	process = load_relaxed(&record_of(v, record)->census);
	return process > CENSUS_LAST ? TAG_UNKNOWN : process;
}

unsigned char view_kind(const struct ash_heap_view *v, size_t i, unsigned unit, size_t index)
{
	const uint64_t *slot = (const uint64_t *)view_at(
		v, v->region.remote + (i * CHUNK_UNITS + unit) * v->region.remote_stride) + KINDS_SLOT;
	const uint8_t *leaf = view_part(v, view_read(v, slot), SLAB_SLOTS);

	return leaf == NULL ? 0 : load_relaxed(&leaf[index]);
}

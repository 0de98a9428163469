/* SPDX-License-Identifier: MIT */
/* A view of a heap whose records were forged says nothing of what is outside, and ends. */
#include "store/inner/view_subject.h"
#include "store/data/view.h"

static int is_outside(UNUSED void *context, const void *p, size_t size,
		      UNUSED const struct ash_heap_owner *owner)
{
	uint64_t offset = ash_heap_view_offset(viewed, p);

	return offset == 0 || size > viewed->bytes - offset;
}

/* Under each lie in a record nothing outside the mapping is told, and the walk ends. */
static void lie(const void *at, uint64_t word, size_t bytes)
{
	const char *base = (const char *)store_of(heap_of(viewed_heap)), *p;
	struct ash_block b;
	uint64_t was = 0;
	unsigned i;

	memcpy(&was, at, bytes);
	memcpy((void *)(uintptr_t)at, &word, bytes);
	CHECK_EQ(ash_heap_view_walk(viewed, is_outside, NULL), 0);
	for (i = 0; i < 64; i++) {
		p = (const char *)viewed->at + (viewed_block[1].p - base) + ((size_t)i << 17);
		(void)ash_heap_view_find(viewed, p, &b);
		if (b.start != NULL)
			CHECK_EQ(is_outside(NULL, b.start, b.size, NULL), 0);
	}
	(void)ash_heap_view_check(viewed);
	memcpy((void *)(uintptr_t)at, &was, bytes);
}
#define LIE(place, word) lie(&(place), (uint64_t)(word), sizeof(place))

TEST(view_of_forged_records, 10)
{
	struct region *r;
	struct chunk *c;
	struct slab *s;
	size_t i;

	viewed_make();
	viewed = NOT_NULL(ash_heap_view_file(viewed_fd, NULL));
	r = store_of(heap_of(viewed_heap))->heap.regions;
	for (i = 0; i < r->chunks; i++) {
		c = region_chunk(r, i);
		if (c->kind == CHUNK_SPAN) {
			LIE(c->span_chunks, 0);
			LIE(c->span_chunks, ~UINT32_C(0));
			LIE(c->span_chunks, r->chunks - i + 1);
			LIE(c->span_bytes, ~UINT64_C(0));
			LIE(c->span_bytes, 0);
			LIE(c->span_bytes, r->chunks << CHUNK_SHIFT);
			LIE(c->kind, CHUNK_SLABS);
			c->span_chunks += 1000;
			LIE(c->span_bytes, 1000 * CHUNK_SIZE);
			c->span_chunks -= 1000;
		}
		if (c->kind != CHUNK_SLABS)
			continue;
		s = record_at(c, c->head[record_unit(c->head[CHUNK_UNITS - 1])]);
		if (c->head[CHUNK_UNITS - 1] == 0)
			s = record_at(c, c->head[0]);
		LIE(c->kind, CHUNK_SPAN);
		LIE(c->head[s->unit], ~UINT32_C(0));
		LIE(c->head[s->unit], 3);
		LIE(c->head[s->unit], c->head[s->unit] + 8);
		LIE(c->head[CHUNK_UNITS - 1], record_offset(CHUNK_UNITS - 1));
		LIE(s->slots, ~UINT64_C(0));
		LIE(s->groups, ~UINT32_C(0));
		LIE(s->groups, 0);
		LIE(s->slot_size, 0);
		LIE(s->slot_size, ~UINT32_C(0));
		LIE(s->class, 255);
		LIE(s->class, CLASSES - 1);
		LIE(s->units, 0);
		LIE(s->units, 255);
		LIE(s->base, NULL);
		LIE(s->remote, NULL);
		LIE(s->chunk, NULL);
	}
	LIE(r->chunks, ~UINT64_C(0));
	LIE(r->records, NULL);
	LIE(store_of(heap_of(viewed_heap))->bytes, ~UINT64_C(0));
	LIE(store_of(heap_of(viewed_heap))->base, NULL);
	LIE(store_of(heap_of(viewed_heap))->records, NULL);
	LIE(store_of(heap_of(viewed_heap))->heap.root, ~UINT64_C(0));
	LIE(store_of(heap_of(viewed_heap))->heap.reserved, ~UINT64_C(0));
}

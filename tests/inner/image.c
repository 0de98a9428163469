/* SPDX-License-Identifier: MIT */
/* What is read of an image (shm/image.h) lies in it, and the number of its chunks is one that it can have. */
#include "shm/image.h"

#include "ashlar_heap.h"
#include "backend/region.h"
#include "heaps/instance.h"
#include "rt.h"
#include "shm/image_lists.h"
#include "shm/image_records.h"
#include "shm/store.h"

TEST(inner_image_reads_nothing_behind_its_end, 10)
{
	static const char bytes[100] = {1, 2, 3};
	struct image m = {.mapped = bytes, .bytes = sizeof bytes};
	char out[8];

	m.head.base = (void *)((uintptr_t)1 << 40); /* NOLINT: where it would be mapped */
	CHECK(image_get(&m, (char *)m.head.base, out, 3) && out[0] == 1 && out[2] == 3);
	CHECK(image_get(&m, (char *)m.head.base + 92, out, 8) && image_get(&m, (char *)m.head.base + 100, out, 0));
	CHECK(!image_get(&m, (char *)m.head.base + 93, out, 8) && !image_get(&m, (char *)m.head.base + 101, out, 0));
	CHECK(!image_get(&m, (char *)m.head.base - 1, out, 1) && !image_get(&m, NULL, out, 1));
}

TEST(inner_image_of_so_many_chunks, 10)
{
	ash_heap *heap = ash_heap_create_shared(8 * MIB, NULL);
	struct store *s;
	struct region *r;
	static struct image m;
	size_t n;

	CHECK(heap != NULL);
	s = store_of(heap_of(heap));
	r = region_first(&s->heap);
	n = r->chunks;
	m.mapped = (const char *)s;
	m.bytes = s->bytes;
	m.head.base = s;
	m.region.capacity = r->capacity;
	CHECK(image_read_chunks(&m) && m.region.chunks == n && !image_has_grown(&m));
	m.region.chunks = n - 1;
	CHECK(image_has_grown(&m) && m.region.chunks == n);
	r->chunks = 0;
	CHECK(!image_read_chunks(&m) && !image_has_grown(&m));
	r->chunks = r->capacity + 1;
	CHECK(!image_read_chunks(&m) && !image_has_grown(&m) && m.region.chunks == n);
	r->chunks = r->capacity;
	CHECK(image_read_chunks(&m) && m.region.chunks == r->capacity);
	r->chunks = n;
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* A check that finds wrong lists asks whether a record's holder, or a stranger, was changing them. */
TEST(inner_image_tells_changes, 10)
{
	ash_heap *heap = ash_heap_create_shared(8 * MIB, NULL);
	static struct image m;
	struct store *s;
	struct owner *o;

	CHECK(heap != NULL && ash_heap_alloc(heap, 100) != NULL);
	s = store_of(heap_of(heap));
	o = s->heap.owners;
	CHECK(o != NULL && s->records_used == 1);
	m.mapped = (const char *)s;
	m.bytes = s->bytes;
	m.head.base = s;
	m.head.records = s->records;
	m.head.records_used = 1;
	m.begun = s->visits + o->building;
	CHECK(!image_is_changing(&m));
	o->building += 2;
	CHECK(image_is_changing(&m));
	o->building -= 2;
	s->visits++;
	CHECK(image_is_changing(&m));
	/* A record that was vacant at an earlier look, and has a holder now. */
	m.vacant[0] = true;
	m.region = *region_first(&s->heap);
	CHECK(image_records_check(&m));
	CHECK(!m.vacant[0] && m.known[0]);
}

/* SPDX-License-Identifier: MIT */
/*
 * A heap that is extended while its file is checked, by other processes that attach or look:
 * between any two reads of the check there may be more chunks, which are in use at once.
 */
#include "store/file/image.h"
#include "store/file/image.h"

#include "heaps/instance.h"
#include "pages.h"
#include "rt.h"
#include "store/recover/intent.h"
#include "heaps/seats.h"
#include "syscall.h"

enum { CHUNKS = 3, LIMIT = 150 };

static const struct ash_heap_options options = {.limit = LIMIT * CHUNK_SIZE};

/* The state of a check of the heap's file that knows of CHUNKS chunks. */
static struct image *begin(ash_heap **heap)
{
	int fd = (int)arch_memfd_create("extend", 0);
	struct image *m = pages_reserve(1 << 20, PAGE_LEAST, PAGES_PRIVATE);
	struct store *s;

	*heap = ash_heap_create_file(fd, CHUNKS * CHUNK_SIZE, &options);
	CHECK(*heap != NULL && m != NULL);
	CHECK(sizeof *m + (2 * bits_words(LIMIT) + ROOM_WORDS(LIMIT)) * sizeof m->bits[0] <= 1 << 20);
	s = store_of(heap_of(*heap));
	m->fd = fd;
	m->ours = true;
	m->head = *s;
	store_set_region(&m->region, s, LIMIT);
	CHECK(image_read_chunks(m) && m->region.chunks == CHUNKS);
	return m;
}

static void extend(ash_heap *h, size_t n)
{
	CHECK(ash_heap_extend(h, n * CHUNK_SIZE));
}

TEST(extend_beside_a_check_of_bits, 10)
{
	ash_heap *h;
	struct image *m = begin(&h);

	/* The new chunks' bits are in the last word of the old ones. */
	extend(h, CHUNKS + 1);
	CHECK(image_read_bits(m));
	CHECK_EQ(m->region.chunks, CHUNKS + 1);
	CHECK(image_is_free(m, CHUNKS));
	/* Or `room` says that they have free units. */
	while (ash_heap_alloc(h, CHUNK_SIZE) != NULL)
		;
	extend(h, CHUNKS + 2);
	CHECK(ash_heap_alloc(h, 100) != NULL);
	CHECK(image_read_bits(m) && image_chunks_check(m));
	CHECK_EQ(m->region.chunks, CHUNKS + 2);
	/* A bit behind the last chunk that there is, is wrong. */
	bits_release(heap_of(h)->regions->free, CHUNKS + 2, 1);
	CHECK(!image_read_bits(m));
}

TEST(extend_beside_a_check_of_chunks, 10)
{
	ash_heap *h;
	struct image *m = begin(&h);

	ash_heap_release(h, ash_heap_alloc(h, CHUNK_SIZE)); /* so that the check comes to the first chunk */
	CHECK(image_read_bits(m));
	extend(h, LIMIT);
	CHECK(ash_heap_alloc(h, LIMIT * CHUNK_SIZE) != NULL); /* from the first chunk to the last */
	CHECK(image_chunks_check(m));
	CHECK_EQ(m->region.chunks, LIMIT);
	/* A span that ends behind the last chunk is wrong. */
	store_relaxed(&region_chunk(heap_of(h)->regions, 0)->span_chunks, (size_t)LIMIT + 1);
	CHECK(!image_chunks_check(m));
}

/* Holds the calling thread's record. */
static struct owner *record(ash_heap *h)
{
	struct seats_call call = seats_enter(heap_of(h));
	struct owner *o = call.owner;

	seats_exit(call);
	CHECK(o != NULL);
	return o;
}

TEST(extend_beside_a_check_of_records, 10)
{
	enum { FLIGHT, INTENT, SLOT, CASES };
	unsigned i;

	for (i = 0; i < CASES; i++) {
		ash_heap *h;
		struct image *m = begin(&h);
		struct region *r = heap_of(h)->regions;
		struct owner *o = record(h);
		size_t n;

		for (n = CHUNKS; n < LIMIT + 2; n += LIMIT + 1 - CHUNKS) {
			uint64_t inside = (uintptr_t)r->base + (n << CHUNK_SHIFT);

			if (n < LIMIT)
				extend(h, n + 1);
			switch (i) {
			case FLIGHT: truth_of(o)->flight = inside; break;
			case INTENT:
				truth_of(o)->intents[0].fresh = inside;
				intent_set(&truth_of(o)->intents[0], INTENT_DRAFT);
				break;
			default:
				truth_of(o)->intents[0].slot = inside;
				intent_set(&truth_of(o)->intents[0], INTENT_ARMED);
			}
			/* In a chunk that was added it is right, behind the last one it is wrong. */
			CHECK_EQ(image_records_check(m), n < LIMIT);
			CHECK_EQ(m->region.chunks, CHUNKS + 1);
		}
	}
}

/* SPDX-License-Identifier: MIT */
/* The state of its chunk that a new span leaves, and the facts that it is told. */
/* promises: ash_alloc, ash_zalloc, ash_expand */
#include "backend/map.h"
#include "backend/region.h"
#include "heaps/instance.h"
#include "support/handler_at_step.h"
#include "support/resident.h"

static struct heap *const d = &heap_default;

/* A process that dies before it has tagged its span leaves no span with another's tag (store/recover/census.h). */
TEST(span_has_no_tag_yet, 10)
{
	void *p = NOT_NULL(ash_alloc(3 * MIB));
	struct chunk *c = map_find(p);

	ash_release(p);
	c->clean = 5; /* as of a chunk of slabs, or of a span that had a tag */
	CHECK(ash_alloc(3 * MIB) == p);
	CHECK_EQ(c->clean, 0);
	ash_release(p);
}

/* Before it is handed out, but not if it is to read zero: most of such a block may never be written. */
TEST(span_is_populated, 10)
{
	const struct ash_heap_options options = {.huge = ASH_HUGE_POPULATE};
	ash_heap *h;
	char *p;

	needs_small_pages();
	h = NOT_NULL(ash_heap_create(&options));
	p = NOT_NULL(ash_heap_alloc(h, 3 * MIB));
	if (figures() && !pages_commit(p, PAGE))
		rt_skip("this kernel does not populate");
	CHECK(!figures() || pages_count(p, 3 * MIB) == 3 * MIB);
	p = NOT_NULL(ash_heap_zalloc(h, 1, 3 * MIB));
	CHECK(!figures() || pages_count(p, 3 * MIB) == 0);
	ash_heap_destroy(h);
}

/* A block that grew to all of its chunk: that is no chunk of slabs any more, and no search finds a unit there. */
TEST(span_of_a_chunk_leaves_the_slabs, 10)
{
	size_t chunks, reserved;
	struct chunk *c;
	char *p;

	(void)ash_alloc(1);
	if (d->owners == NULL)
		rt_skip("slabs have no owners here");
	for (unsigned i = 0; i < 128; i++) {
		p = NOT_NULL(ash_alloc(MIB));
		if ((uintptr_t)p % CHUNK_SIZE == 0)
			break;
	}
	c = map_find(p);
	chunks = d->slab_chunks;
	reserved = d->reserved;
	memset(p, 1, CHUNK_SIZE); /* as if other slabs of the chunk had been written */
	CHECK_EQ(ash_expand(p, MIB + MIB / 2), MIB + MIB / 2);
	CHECK_EQ(d->slab_chunks, chunks - 1);
	CHECK_EQ(region_room(c->region)[c->index], 0);
	if (figures() && !huge_unasked())
		CHECK_EQ(pages_count(p + MIB + MIB / 2, MIB / 2), 0); /* the tail */
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
	CHECK(d->slab_chunks == chunks - 1 && d->reserved == reserved);
	CHECK_EQ(ash_check(), 0);
}

/* ---- the instructions of a call that resizes a span and changes nothing ---- */

enum { BYTES = 10 << 20, MOST = 80 /* instructions, with the test's own few */ };

static void *block;
static size_t size = BYTES - 1000;

DOES(one_byte_more, CHECK(ash_resize(block, size++) == block));

TEST(resize_steps_by_one_byte, 20)
{
	block = NOT_NULL(ash_alloc(size));
	for (unsigned i = 0; i < 4; i++) {
		size_t steps = steps_of(one_byte_more);

		rt_print("     %zu instructions\n", steps);
		CHECK(steps > 10 && steps <= MOST);
	}
	CHECK(ash_usable_size(block) == BYTES);
	ash_release(block);
}

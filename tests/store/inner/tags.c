/* SPDX-License-Identifier: MIT */
/* Tags of the program's for blocks of heaps shared by processes. */
/* promises: ash_heap_alloc_tagged, ash_heap_draft_tagged */
#include "ashlar_heap.h"
#include "rt.h"

static ash_heap *heap;

DOES(open_heap, heap = NOT_NULL(ash_heap_create_shared((size_t)32 << 20, NULL)));

static unsigned by_tag[256];

static int count_tag(UNUSED void *context, UNUSED void *block, UNUSED size_t size, const struct ash_heap_owner *owner)
{
	CHECK(owner->live);
	by_tag[owner->tag]++;
	return 0;
}

TEST(tags_are_shown, 10)
{
	static const size_t sizes[] = {8, 100, 5000, 100000, (size_t)2 << 20};
	void *p[3][5], *slot;
	unsigned i;

	open_heap();
	slot = ash_heap_slot(heap, "slot", NULL);
	for (i = 0; i < 5; i++) {
		p[0][i] = NOT_NULL(ash_heap_alloc_tagged(heap, sizes[i], 200));
		p[1][i] = NOT_NULL(ash_heap_alloc_tagged(heap, sizes[i], 0));
		p[2][i] = NOT_NULL(ash_heap_draft_tagged(heap, sizes[i], 3));
		CHECK_EQ(ash_heap_replace(heap, slot, ash_heap_load(heap, slot), p[2][i]), ASH_SLOT_DONE);
	}
	(void)ash_heap_walk(heap, count_tag, NULL);
	CHECK(by_tag[200] == 5 && by_tag[0] == 5 && by_tag[3] == 1);
	/* A block without a tag shows none, where another had one. */
	for (i = 0; i < 5; i++) {
		ash_heap_release(heap, p[0][i]);
		p[0][i] = ash_heap_alloc(heap, sizes[i]);
	}
	memset(by_tag, 0, sizeof by_tag);
	(void)ash_heap_walk(heap, count_tag, NULL);
	CHECK(by_tag[200] == 0 && by_tag[0] == 10 && by_tag[3] == 1);
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* Sizes by which a block moves, grows and shrinks in place, or comes from a chunk of its own. */
static const size_t moves[] = {8, 100, 9000, 100, 300000, 50000, (size_t)3 << 20, (size_t)2 << 20, (size_t)5 << 20, 40};

static void recount_blocks(void)
{
	memset(by_tag, 0, sizeof by_tag);
	(void)ash_heap_walk(heap, count_tag, NULL);
}

/* By whichever call it is resized. */
static void *resized(unsigned how, void *p, size_t size)
{
	if (how == 0)
		return ash_heap_resize(heap, p, size);
	return how == 1 ? ash_resize(p, size) : ash_heap_aligned_resize(heap, p, 256, size);
}

TEST(tags_stay_when_blocks_move, 10)
{
	unsigned i, how;
	char *p, *moved;

	open_heap();
	for (how = 0; how < 3; how++) {
		p = NOT_NULL(ash_heap_alloc_tagged(heap, 60, (unsigned char)(how + 1)));
		for (i = 0; i < sizeof moves / sizeof *moves; i++) {
			p[0] = (char)i;
			moved = resized(how, p, moves[i]);
			CHECK(moved != NULL && moved[0] == (char)i);
			p = moved;
			recount_blocks();
			CHECK(by_tag[how + 1] == 1 && by_tag[0] == 0);
		}
		ash_heap_release(heap, p);
		/* None is left behind for the next block there. */
		p = ash_heap_alloc(heap, moves[i - 1]);
		CHECK(p != NULL && (p = ash_heap_resize(heap, p, 200)) != NULL);
		recount_blocks();
		CHECK(by_tag[0] == 1 && by_tag[how + 1] == 0);
		ash_heap_release(heap, p);
	}
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* A block that could move, but not with its tag, stays. */
TEST(tags_need_memory_to_move, 10)
{
	void *p, *room;

	open_heap();
	p = ash_heap_alloc_tagged(heap, 60, 7);
	room = ash_heap_alloc(heap, 5000); /* of a slab whose blocks have no tags yet */
	while (ash_heap_alloc(heap, 2048) != NULL)
		;
	ash_heap_release(heap, room);
	room = ash_heap_resize(heap, p, 5000);
	recount_blocks();
	CHECK_EQ(by_tag[7], 1);
	CHECK(room == NULL && ash_heap_usable_size(heap, p) == 64);
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* A draft that was refused, published, and taken out again: slots of both kinds, and a span. */
TEST(tags_stay_when_blocks_are_published, 10)
{
	static const size_t sizes[] = {40, 200000, (size_t)3 << 20};
	void **slots, *p;
	unsigned i;

	open_heap();
	slots = ash_heap_zalloc(heap, 2, sizeof *slots);
	CHECK(ash_heap_alloc_into(heap, 8, &slots[0], NULL) != NULL);
	for (i = 0; i < 3; i++) {
		CHECK((p = ash_heap_draft_tagged(heap, sizes[i], 9)) != NULL);
		CHECK_EQ(ash_heap_replace(heap, &slots[0], NULL, p), ASH_SLOT_CHANGED);
		CHECK_EQ(ash_heap_replace(heap, &slots[1], NULL, p), ASH_SLOT_DONE);
		recount_blocks();
		CHECK_EQ(by_tag[9], 1);
		CHECK_EQ(ash_heap_release_from(heap, &slots[1]), ASH_SLOT_DONE);
		CHECK((p = ash_heap_draft_tagged(heap, sizes[i], 9)) != NULL);
		CHECK_EQ(ash_heap_bind(heap, "tagged", p), ASH_SLOT_DONE);
		CHECK(ash_heap_unbind(heap, "tagged") == p);
		recount_blocks();
		CHECK_EQ(by_tag[9], 1);
		ash_heap_release(heap, p);
	}
	recount_blocks();
	CHECK_EQ(by_tag[9], 0);
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* In other heaps tags are forgotten. */
TEST(tags_in_other_heaps, 10)
{
	heap = ash_heap_create(NULL);
	CHECK(ash_heap_alloc_tagged(heap, 100, 9) != NULL);
	(void)ash_heap_walk(heap, count_tag, NULL);
	CHECK(by_tag[0] == 1 && by_tag[9] == 0);
}

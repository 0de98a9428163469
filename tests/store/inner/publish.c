/* SPDX-License-Identifier: MIT */
/* Slots and drafts: the calls, what they refuse, and signal handlers within them. */
/* promises: ash_heap_alloc_into, ash_heap_draft, ash_heap_load, ash_heap_release_from, ash_heap_replace */
#include "support/handler_at_step.h"

#include "heaps/instance.h"
#include "store/recover/intent.h"
#include "support/blocks.h"

static ash_heap *heap;
static void **slots; /* eight of them in one block */

static size_t blocks(void)
{
	return stats_of(heap).blocks;
}

static void open_heap(void)
{
	heap = NOT_NULL(ash_heap_create_shared((size_t)32 << 20, NULL));
	slots = NOT_NULL(ash_heap_zalloc(heap, 8, sizeof *slots));
}

static bool reads_zero(const char *p, size_t n)
{
	while (n > 0 && p[n - 1] == 0)
		n--;
	return n == 0;
}

static void calls(size_t size)
{
	size_t before = blocks();
	enum ash_slot why;
	char *p, *q, *plain;

	p = ash_heap_alloc_into(heap, size, &slots[0], &why);
	CHECK(p != NULL && why == ASH_SLOT_DONE && ash_heap_load(heap, &slots[0]) == p);
	CHECK(reads_zero(p, size));
	memset(p, 1, size);
	CHECK(ash_heap_alloc_into(heap, size, &slots[0], &why) == NULL && why == ASH_SLOT_CHANGED);
	CHECK_EQ(blocks(), before + 1);
	q = ash_heap_draft(heap, size);
	CHECK(q != NULL && q != p);
	memset(q, 2, size);
	CHECK_EQ(ash_heap_replace(heap, &slots[0], q + 8, q), ASH_SLOT_CHANGED);
	CHECK_EQ(ash_heap_replace(heap, &slots[0], p, q), ASH_SLOT_DONE);
	CHECK(ash_heap_load(heap, &slots[0]) == q && q[size - 1] == 2);
	CHECK_EQ(blocks(), before + 1);
	plain = ash_heap_alloc(heap, size);
	CHECK_EQ(ash_heap_replace(heap, &slots[0], q, plain), ASH_SLOT_DONE);
	CHECK_EQ(blocks(), before + 1);
	CHECK_EQ(ash_heap_release_from(heap, &slots[0]), ASH_SLOT_DONE);
	CHECK_EQ(ash_heap_release_from(heap, &slots[0]), ASH_SLOT_CHANGED);
	CHECK(slots[0] == NULL);
	CHECK_EQ(blocks(), before);
	CHECK_EQ(ash_heap_check(heap), 0);
}

TEST(publish_calls, 10)
{
	open_heap();
	calls(8);
	calls(100);
	calls(60000);
	calls((size_t)3 << 20);
}

/* A block that left its slot and was released may come back as the draft that is to replace it. */
static void recycled(void)
{
	char *old, *draft;

	old = ash_heap_alloc_into(heap, 100, &slots[0], NULL);
	CHECK_EQ(ash_heap_release_from(heap, &slots[0]), ASH_SLOT_DONE); /* as another thread would */
	draft = ash_heap_draft(heap, 100);
	CHECK(draft == old);
	CHECK_EQ(ash_heap_replace(heap, &slots[0], old, draft), ASH_SLOT_CHANGED);
	CHECK_EQ(ash_heap_replace(heap, &slots[0], NULL, draft), ASH_SLOT_DONE);
	CHECK_EQ(ash_heap_replace(heap, &slots[0], draft, draft), ASH_SLOT_OUTSIDE);
	CHECK_EQ(ash_heap_replace(heap, &slots[0], NULL, NULL), ASH_SLOT_CHANGED);
	CHECK(ash_heap_load(heap, &slots[0]) == draft);
	CHECK_EQ(ash_heap_release_from(heap, &slots[0]), ASH_SLOT_DONE);
	CHECK_EQ(ash_heap_replace(heap, &slots[0], NULL, NULL), ASH_SLOT_DONE);
	CHECK_EQ(blocks(), 1);
}

TEST(publish_recycled_address, 10)
{
	open_heap();
	recycled();
	heap = ash_heap_create(NULL);
	slots = ash_heap_zalloc(heap, 8, sizeof *slots);
	recycled();
}

/* In other heaps the calls are the same, within one process. */
TEST(publish_in_other_heaps, 10)
{
	static char memory[1 << 20];

	heap = ash_heap_create(NULL);
	slots = ash_heap_zalloc(heap, 8, sizeof *slots);
	calls(100);
	heap = ash_heap_create_in(memory, sizeof memory);
	slots = ash_heap_zalloc(heap, 8, sizeof *slots);
	calls(100);
}

TEST(publish_refusals, 10)
{
	static _Alignas(8) void *outside[2];
	ash_heap *other = ash_heap_create(NULL);
	void *p, *foreign = ash_heap_alloc(other, 100), *drafts[INTENTS], *word = (char *)&slots + 1;
	enum ash_slot why;
	unsigned i;

	open_heap();
	word = (char *)slots + 4; /* not aligned to 8 */
	p = ash_heap_draft(heap, 100);
	CHECK_EQ(ash_heap_replace(heap, outside, NULL, p), ASH_SLOT_OUTSIDE);
	CHECK_EQ(ash_heap_replace(heap, NULL, NULL, p), ASH_SLOT_OUTSIDE);
	CHECK_EQ(ash_heap_replace(heap, word, NULL, p), ASH_SLOT_OUTSIDE);
	CHECK_EQ(ash_heap_replace(heap, heap, NULL, p), ASH_SLOT_OUTSIDE);
	CHECK_EQ(ash_heap_replace(heap, slots, NULL, foreign), ASH_SLOT_OUTSIDE);
	CHECK_EQ(ash_heap_replace(heap, slots, NULL, outside), ASH_SLOT_OUTSIDE);
	CHECK_EQ(ash_heap_replace(heap, slots, NULL, (char *)p + 8), ASH_SLOT_OUTSIDE);
	CHECK_EQ(ash_heap_replace(heap, slots, NULL, (char *)p + 1), ASH_SLOT_OUTSIDE);
	CHECK_EQ(ash_heap_bind(heap, "n", (char *)p + 8), ASH_SLOT_OUTSIDE);
	CHECK(ash_heap_find(heap, "n") == NULL);
	CHECK_EQ(ash_heap_release_from(heap, outside), ASH_SLOT_OUTSIDE);
	CHECK(ash_heap_alloc_into(heap, 100, outside, &why) == NULL && why == ASH_SLOT_OUTSIDE);
	CHECK(ash_heap_alloc_into(heap, (size_t)1 << 30, slots, &why) == NULL && why == ASH_SLOT_NO_MEMORY);
	CHECK(ash_heap_alloc_into(heap, SIZE_MAX, slots, NULL) == NULL);
	CHECK(outside[0] == NULL && outside[1] == NULL && slots[0] == NULL && slots[1] == NULL);
	ash_heap_release(heap, p);
	CHECK_EQ(ash_heap_replace(heap, slots, NULL, p), ASH_SLOT_OUTSIDE); /* no block any more */
	CHECK_EQ(blocks(), 1 + 2); /* names have a directory and one name */
	/* So many intents; one that is released by ash_heap_release is free again. */
	for (i = 0; i < INTENTS; i++)
		CHECK((drafts[i] = ash_heap_draft(heap, 100)) != NULL);
	CHECK(ash_heap_draft(heap, 100) == NULL);
	CHECK(ash_heap_alloc_into(heap, 100, slots, &why) == NULL && why == ASH_SLOT_NO_RECORD);
	ash_heap_release(heap, drafts[1]);
	CHECK(ash_heap_alloc_into(heap, 100, slots, &why) != NULL);
	ash_heap_thread_detach(heap);
	CHECK_EQ(blocks(), 2 + 2);
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* ---- a thread ends ---- */

static void leaves_drafts(void *how)
{
	CHECK(ash_heap_draft(heap, 100) != NULL);
	CHECK(ash_heap_draft(heap, 100000) != NULL);
	CHECK(ash_heap_draft(heap, (size_t)3 << 20) != NULL);
	if (how != NULL)
		ash_heap_thread_detach(heap);
}

TEST(publish_drafts_of_the_dead, 10)
{
	unsigned how;

	for (how = 0; how < 3; how++) {
		open_heap();
		if (how == 2 && rt_fork() == 0) {
			leaves_drafts(NULL);
			rt_exit(0);
		}
		if (how == 2)
			CHECK_EQ(rt_wait(-1), 0);
		else
			rt_in_thread(leaves_drafts, how == 1 ? heap : NULL);
		CHECK_EQ(blocks(), how == 1 ? 1 : 4);
		/* A thread that was joined lives for the kernel a moment longer; else the test's limit ends it. */
		while (ash_heap_recover(heap), blocks() != 1)
			rt_yield();
		CHECK_EQ(ash_heap_check(heap), 0);
	}
}

/*
 * A thread leaves with a draft that no slot names, in a slab of which the draft's group, or all groups, are full: the draft's
 * slot is found again.
 */
static void left_with_a_draft(size_t before_it, size_t behind_it)
{
	enum { MORE = 700 };
	static void *p[MORE];
	size_t i, found = 0, live;
	void *draft;

	open_heap();
	live = blocks();
	for (i = 0; i < before_it; i++)
		(void)NOT_NULL(ash_heap_alloc(heap, 100));
	draft = NOT_NULL(ash_heap_draft(heap, 100));
	for (i = 0; i < behind_it; i++)
		(void)NOT_NULL(ash_heap_alloc(heap, 100));
	ash_heap_thread_detach(heap);
	CHECK_EQ(blocks(), live + before_it + behind_it);
	CHECK_EQ(ash_heap_check(heap), 0);
	for (i = 0; i < MORE; i++) {
		p[i] = NOT_NULL(ash_heap_alloc(heap, 100));
		found += p[i] == draft;
	}
	CHECK_EQ(found, 1);
	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_destroy(heap);
}

TEST(publish_draft_left_in_a_full_group, 10)
{
	left_with_a_draft(0, 100);
	left_with_a_draft(70, 100);
}

TEST(publish_draft_left_in_a_full_slab, 10)
{
	left_with_a_draft(0, 1000);
	left_with_a_draft(70, 1000);
}

/* A block that only a draft names would leak with it: a slot in a draft is none. */
TEST(publish_into_no_draft, 10)
{
	static const size_t sizes[] = {64, 3000, 40000, (size_t)5 << 20}; /* the last is a span of three chunks */
	enum ash_slot why;
	size_t i, k;

	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		void **draft, *inner, *child;

		open_heap();
		draft = NOT_NULL(ash_heap_draft(heap, sizes[i]));
		child = NOT_NULL(ash_heap_draft(heap, 100));
		for (k = 0; k < sizes[i] / sizeof *draft; k += sizes[i] / sizeof *draft - 1) {
			draft[k] = NULL;
			CHECK_EQ(ash_heap_replace(heap, &draft[k], NULL, child), ASH_SLOT_OUTSIDE);
			CHECK(ash_heap_alloc_into(heap, 100, &draft[k], &why) == NULL && why == ASH_SLOT_OUTSIDE);
			CHECK(draft[k] == NULL);
		}
		/* Behind the draft's end, and once it is published, it is one. */
		CHECK_EQ(ash_heap_replace(heap, &slots[0], NULL, draft), ASH_SLOT_DONE);
		CHECK_EQ(ash_heap_replace(heap, draft, NULL, child), ASH_SLOT_DONE);
		CHECK_EQ(ash_heap_release_from(heap, draft), ASH_SLOT_DONE);
		CHECK_EQ(blocks(), 2);
		/* A draft that was released, and is a block now. */
		inner = ash_heap_draft(heap, sizes[i]);
		ash_heap_release(heap, inner);
		draft = ash_heap_zalloc(heap, 1, sizes[i]);
		CHECK(draft == inner && ash_heap_alloc_into(heap, 100, draft, &why) != NULL);
	}
}

/* A child that was forked meanwhile has the address of the draft, and not the draft. */
TEST(publish_draft_and_fork, 10)
{
	void *p;

	open_heap();
	p = ash_heap_draft(heap, 100);
	IN_CHILD
		CHECK(ash_heap_alloc_into(heap, 100, &slots[1], NULL) != NULL);
	(void)ash_heap_recover(heap);
	CHECK_EQ(blocks(), 3);
	CHECK_EQ(ash_heap_replace(heap, &slots[0], NULL, p), ASH_SLOT_DONE);
	CHECK_EQ(blocks(), 3);
}

/* ---- signal handlers in the middle of a call ---- */

static void *mine;

static void interrupted(void)
{
	mine = ash_heap_alloc_into(heap, 100, &slots[0], NULL);
	(void)ash_heap_release_from(heap, &slots[1]);
	mine = ash_heap_draft(heap, 3000);
	if (ash_heap_replace(heap, &slots[2], ash_heap_load(heap, &slots[2]), mine) != ASH_SLOT_DONE)
		ash_heap_release(heap, mine);
}

/* Changes what the interrupted call is changing, too. */
static void handler(void)
{
	void *p;

	(void)ash_heap_alloc_into(heap, 100, &slots[3], NULL);
	(void)ash_heap_release_from(heap, &slots[0]);
	(void)ash_heap_alloc_into(heap, 100, &slots[1], NULL);
	p = NOT_NULL(ash_heap_draft(heap, 100));
	if (ash_heap_replace(heap, &slots[2], ash_heap_load(heap, &slots[2]), p) != ASH_SLOT_DONE)
		ash_heap_release(heap, p);
	(void)ash_heap_release_from(heap, &slots[3]);
}

/* A handler may detach: the interrupted call goes on, or has not begun. */
static void detaching(void)
{
	ash_heap_thread_detach(heap);
	(void)ash_heap_alloc_into(heap, 100, &slots[4], NULL);
	(void)ash_heap_release_from(heap, &slots[4]);
}

static void handler_at_steps(void (*acting)(void), void (*call)(void), size_t step)
{
	size_t k, i, named;

	open_heap();
	call();
	step_begin(acting);
	for (k = rt_test_seed() % step; with_act_at(k, call); k += step) {
		for (named = i = 0; i < 8; i++) {
			CHECK(((uintptr_t)slots[i] & MARK) == 0);
			named += slots[i] != NULL;
		}
		CHECK_EQ(blocks(), 1 + named);
	}
	CHECK(k > 300);
	CHECK_EQ(ash_heap_check(heap), 0);
}

TEST_CALL(publish_handler_at_each_instruction, 600, handler_at_steps(handler, interrupted, rt_in_full() ? 5 : rt_under_qemu() ? 997 : 293));

static void in_and_out(void)
{
	CHECK(ash_heap_alloc_into(heap, 100, &slots[0], NULL) != NULL);
	CHECK_EQ(ash_heap_release_from(heap, &slots[0]), ASH_SLOT_DONE);
}

TEST_CALL(publish_handler_detaches, 600, handler_at_steps(detaching, in_and_out, rt_in_full() ? 1 : rt_under_qemu() ? 499 : 61));

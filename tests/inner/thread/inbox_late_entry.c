/* SPDX-License-Identifier: MIT */
/*
 * A notification that is entered after the inbox was last emptied and before the record is
 * vacant: the thread that vacates the record empties the inbox again.
 */
#include "thread/settle.h"

#include "heaps/instance.h"
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "thread/refill.h"
#include "thread/seating.h"

enum { SIZE = 300 };

static ash_heap *heap;
static void *block;

static void release_block(void)
{
	ash_heap_release(heap, block);
	block = NULL;
}

DOES(detach, ash_heap_thread_detach(heap));

/* A part of ash_heap_trim. */
DOES(shrink, visit_all(heap_of(heap)));

static void nothing_is_late(void)
{
	const struct owner *o;

	for (o = heap_of(heap)->owners; o != NULL; o = o->next)
		CHECK(o->state != OWNER_VACANT || (o->notified & INBOX_MISSED) == 0);
	if (block != NULL)
		release_block();
	CHECK_EQ(stats_of(heap).blocks, 0);
	CHECK_EQ(stats_of(heap).pending, 0);
	CHECK_EQ(ash_heap_check(heap), 0);
	ash_heap_destroy(heap);
}

static size_t at_some_steps(void (*prepare)(void), void (*call)(void), size_t apart)
{
	struct rt_random random;
	bool more = true;
	size_t k;

	rt_seed(&random, rt_test_seed());
	step_begin(release_block);
	for (k = 0; more; k += 1 + rt_below(&random, rt_in_full() ? apart / 10 : apart)) {
		heap = ash_heap_create(NULL);
		prepare();
		more = with_act_at(k, call);
		nothing_is_late();
	}
	return k;
}

/* At some of the last instructions: after the inbox was emptied, before the record is vacant. */
static void at_last_steps(void (*prepare)(void), void (*call)(void))
{
	size_t last = 0, left;

	step_begin(release_block);
	for (left = 250; left > 0; left -= 50) {
		heap = ash_heap_create(NULL);
		prepare();
		(void)with_act_at(last == 0 ? SIZE_MAX : last - left, call);
		CHECK(last == 0 || block == NULL);
		last = last == 0 ? boundary : last;
		nothing_is_late();
	}
}

static void take(void)
{
	block = NOT_NULL(ash_heap_alloc(heap, SIZE));
	ash_heap_release(heap, ash_heap_alloc(heap, 5000));
}

static void take_in_thread(UNUSED void *argument)
{
	block = NOT_NULL(ash_heap_alloc(heap, SIZE));
	ash_heap_thread_detach(heap);
}

static void take_by_another(void)
{
	ash_heap_release(heap, ash_heap_alloc(heap, 40000)); /* first, for a record of our own */
	rt_in_thread(take_in_thread, NULL);
	CHECK(heap_of(heap)->owners->next != NULL);
}

TEST_CALL(inner_inbox_late_in_a_detach, 60, CHECK(at_some_steps(take, detach, 600) > 1000));
TEST_CALL(inner_inbox_late_in_a_vacant_record, 60, CHECK(at_some_steps(take_by_another, shrink, 5000) > 500));

static void take_over(void)
{
	struct takeover t = takeover_begin();
	struct owner *v = heap_of(heap)->owners;

	CHECK(takeover_add(&t, v->state == OWNER_VACANT ? v : v->next, OWNER_VACANT));
	CHECK_EQ(takeover_end(&t), 1);
}

static void adopt(void)
{
	struct owner *o = heap_of(heap)->owners;

	/* Of another class than the block's, whose slab stays where it is. */
	adopt_slabs(o->state != OWNER_VACANT ? o : o->next, class_of(SIZE * 2), ADOPT_ALL);
}

TEST(inner_inbox_late_in_a_record_taken_over, 60)
{
	at_last_steps(take_by_another, take_over);
	at_last_steps(take_by_another, adopt);
}

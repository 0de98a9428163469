/* SPDX-License-Identifier: MIT */
/*
 * A view reads a slot that is being changed: between any two of its instructions the change is
 * completed, and its intent is used for another one.  The slot names a block at every moment.
 */
#include "store/recover/intent.h"
#include "support/handler_at_step.h"
#include "syscall.h"

#include "store/inner/shared.h" /* last: its names are short */

static ash_heap_view *view;
static uint64_t *slot;
static void *before, *after;
static struct intent *intent;

/* The change of the slot from one block to the other has happened, and is not completed. */
static void mark(void)
{
	*slot = (uintptr_t)before;
	intent = NOT_NULL(intent_claim(shared_record(heap)));
	intent->slot = (uintptr_t)slot;
	intent->old = 0;
	intent->fresh = (uintptr_t)after;
	intent_set(intent, INTENT_ARMED);
	*slot = intent_mark(store_of(heap_of(heap)), intent);
}

static void complete_and_use_again(void)
{
	if (intent == NULL)
		return;
	CHECK_EQ(intent_read(heap_of(heap), slot), (uintptr_t)after);
	intent_end(intent);
	CHECK(intent_claim(shared_record(heap)) == intent);
	intent_end(intent);
	intent = NULL;
}

static const void *seen;

DOES(load, seen = ash_heap_view_load(view, ash_heap_view_at(view, slot)));

TEST(view_of_a_slot_that_changes, 20)
{
	int fd = (int)arch_memfd_create("marks", 0);
	bool more = true;
	size_t k;

	heap = NOT_NULL(ash_heap_create_file(fd, (size_t)4 << 20, NULL));
	view = NOT_NULL(ash_heap_view_file(fd, NULL));
	slot = NOT_NULL(ash_heap_alloc(heap, 64));
	before = NOT_NULL(ash_heap_alloc(heap, 100));
	after = NOT_NULL(ash_heap_alloc(heap, 100));
	mark();
	load(); /* without stepping, also where there is none */
	CHECK(seen == ash_heap_view_at(view, after));
	complete_and_use_again();
	step_begin(complete_and_use_again);
	for (k = 0; more; k++) {
		mark();
		more = with_act_at(k, load);
		CHECK(seen == ash_heap_view_at(view, after));
		complete_and_use_again();
	}
	rt_print("     %zu boundaries\n", k);
	CHECK(k > 10);
	/* A mark of no intent, as in a forged file, is nothing. */
	*slot = ~(uint64_t)0;
	CHECK(ash_heap_view_load(view, ash_heap_view_at(view, slot)) == NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * A thread ends alone, just behind its release of a block: its record still names the slot.  By
 * then the slot is another block, which another thread of the same process is releasing when
 * the record is recovered, at any instruction.
 */
#include "backend/map.h"
#include "front/slot.h"
#include "store/recover/census.h"
#include "store/recover/recover.h"
#include "support/handler_at_step.h"
#include "syscall.h"

#include "store/inner/shared.h" /* last: its names are short */

static struct owner *ended;
static uint64_t ended_state;
static void *block;

/* Without a word: its record stays held. */
static void end_alone(UNUSED void *argument)
{
	CHECK(ash_heap_alloc(heap, 100) != NULL);
	ended = NOT_NULL(seats_self(heap_of(heap)));
	ended_state = ended->state;
}

/* Blocks by a thread that goes on, so that their slab has an owner that lives. */
enum { MADE, WANTED, ENOUGH };
static _Atomic int asked;

static void make_blocks(UNUSED void *argument)
{
	for (; asked != ENOUGH; rt_yield())
		if (asked == WANTED) {
			block = ash_heap_alloc(heap, 100);
			asked = MADE;
		}
}

static void ask_for_a_block(void)
{
	asked = WANTED;
	while (asked == WANTED)
		rt_yield();
}

DOES(recover, (void)ash_heap_recover(heap));
DOES(release, ash_heap_release(heap, block));

TEST(death_of_a_thread_alone, 20)
{
	struct rt_thread *maker;
	struct slot_ref at;
	size_t k = 0;
	bool met;

	step_begin(recover);
	needs_lives();
	heap = NOT_NULL(ash_heap_create_shared(16 * MIB, NULL));
	ash_heap_release(heap, ash_heap_alloc(heap, 16));
	CHECK((maker = rt_thread_start(make_blocks, NULL)) != NULL);
	ask_for_a_block();
	rt_in_thread(end_alone, NULL);
	/* A thread that was joined lives for the kernel a moment longer. */
	while (!recover_is_dead(heap_of(heap), ended_state))
		rt_yield();
	do {
		ask_for_a_block();
		CHECK(slot_find(map_find(block), block, &at));
		CHECK(!owner_has(ended, at.slab) && !owner_has(seats_self(heap_of(heap)), at.slab));
		/* The ended thread's release of the same slot is complete but for its last store. */
		truth_of(ended)->flight = (uint64_t)(uintptr_t)block;
		store_release(&ended->state, ended_state);
		met = with_act_at(k, release);
		k += rt_in_full() ? 1 : 5; /* between tag and remote bit are more instructions */
		CHECK(!slot_is_taken(&at));
		recover();
		CHECK_EQ(truth_of(ended)->flight, 0);
	} while (met);
	CHECK(k > 20);
	CHECK_EQ(ash_heap_check(heap), 0);
	asked = ENOUGH;
	rt_thread_join(maker);
}

/* SPDX-License-Identifier: MIT */
/* A record that its thread leaves: no handler gets it meanwhile, and nobody caches slabs in it afterwards. */
#include "inner/slots.h"
#include "inner/thread_at.h"
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "thread/seating.h"

DOES(detaches, ash_thread_detach());

static void allocates(void)
{
	ash_release(NOT_NULL(ash_alloc(100)));
}

/* A record is looked for, as another one may be vacant; the thread's own is not, until it has been left. */
TEST(detach_interrupted_by_an_allocation, 60)
{
	size_t step;
	bool more = true;

	step_begin(allocates);
	for (step = rt_test_seed() % 5; more; step += rt_in_full() ? 1 : 5) {
		allocates();
		heap_default.vacated_seen = heap_default.vacated - 1;
		more = with_act_at(step, detaches);
		CHECK(seat.self == owner_none || load_relaxed(&seat.self->state) != OWNER_VACANT);
	}
	rt_print("     %zu boundaries\n", step);
	CHECK(step > 50);
	CHECK_EQ(ash_check(), 0);
}

enum { BLOCKS = 3000 };
static void *blocks[BLOCKS];
static struct owner *record;

static void ends_without_a_word(UNUSED void *argument)
{
	alloc_each(blocks, BLOCKS, 1000);
	record = seat.self;
	(void)arch_exit(0); /* past the runtime's ash_thread_detach */
}

/* A thread that ended could cache; a guest that finds a slab of its record empty does not, or nobody would use it. */
TEST(detach_of_an_ended_thread_ends_its_cache, 20)
{
	struct slab *s;

	ash_release(ash_alloc(1));
	rt_in_thread(ends_without_a_word, NULL);
	CHECK(!record->no_spares);
	(void)reap_all(&heap_default, seat.self);
	CHECK_EQ(load_acquire(&record->state), OWNER_VACANT);
	CHECK(owner_hold(record));
	s = place_of(blocks[BLOCKS / 2]).slab;
	for (unsigned i = 0; i < BLOCKS; i++)
		if (place_of(blocks[i]).slab == s)
			ash_release(blocks[i]);
	store_relaxed(&record->notified, (uint64_t)0); /* as if the entries came before the last look */
	owner_vacate(record);
	CHECK(owner_has(record, s));
	visit_slab(record, s);
	CHECK(!owner_has(record, s));
	rt_print("     %u of its units are cached\n", record->spare_units);
	CHECK_EQ(record->spare_units, 0);
	CHECK_EQ(ash_check(), 0);
}

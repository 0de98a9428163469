/* SPDX-License-Identifier: MIT */
/* The preparation of each path of the harness of single steps. */
#include "inner/steps/before.h"
#include "inner/steps/harness.h"

#include "inner/slots.h"
#include "slab/unowned.h"
#include "support/blocks.h"
#include "syscall.h"
#include "thread/refill.h"
#include "thread/seating.h"
#include "thread/settle.h"

static void *reserve[4096];
static unsigned reserved;
struct slab *path_sleepers;

/* The block that the call is about to release or resize: no child may count on it. */
void path_take(void)
{
	step_block = ash_alloc(step_size);
	steps_held++;
}

void path_take_from_other(void)
{
	steps_other(path_take);
}

void path_take_from_passing(void)
{
	steps_passing_thread(path_take);
}

/* From the unowned slabs, as a handler that interrupts a call would. */
void path_take_shared(void)
{
	(void)seat_take();
	path_take();
	seat_open();
}

/* The same, the only block of its slab, of the class's two. */
void path_take_shared_last(void)
{
	void *first;

	(void)seat_take();
	first = ash_alloc(step_size);
	for (unsigned i = 1; i < class_slots(class_of(step_size), 1); i++)
		steps_take(step_size);
	path_take();
	ash_release(first); /* that one's slab is preferred now */
	seat_open();
}

/* Empty slabs of some classes, each its class's preferred one. */
void path_empty_shared(void)
{
	(void)seat_take();
	for (size_t size = 100; size < 10000; size *= 3)
		ash_release(ash_alloc(size));
	seat_open();
	path_dirty_span();
}

/* The current slab of the class is used up to its last slot, or nearly. */
static void exhaust(unsigned but)
{
	struct slab *s;
	unsigned left;

	for (steps_take(step_size);; steps_take(step_size)) {
		s = current_slab(seat.self, class_of(step_size));
		left = 0;
		for (unsigned g = 0; s != NULL && g < s->groups; g++)
			left += bits_count(s->free[g]);
		if (left <= but)
			break;
	}
}

void path_exhaust_slab(void)
{
	exhaust(0);
}

void path_last_of_group(void)
{
	steps_take(step_size);
	while (slots_at_hand(seat.self, class_of(step_size)) != 1)
		steps_take(step_size);
}


/* Two slabs; the first has free slots again, the second is full. */
void path_partial(void)
{
	void *first = ash_alloc(step_size);

	exhaust(0);
	steps_take(step_size);
	exhaust(1); /* as above */
	ash_release(first);
	steps_take(step_size);
}

/* Two slabs; the first is full, and the second has so many slots left. */
static void full_before(unsigned left)
{
	path_take();
	exhaust(0);
	steps_take(step_size);
	exhaust(left);
}

void path_full(void)
{
	full_before(1);
}

void path_all_full(void)
{
	full_before(0);
}

/* The current slab is full. */
void path_current_full(void)
{
	path_take();
	exhaust(0);
}

/* The slab is full; the other thread has released some of it. */
static void release_some(void)
{
	for (unsigned i = 0; i < reserved; i++, steps_held--)
		ash_release(reserve[i]);
}

void path_inbox(void)
{
	for (; reserved < 5; reserved++, steps_held++)
		reserve[reserved] = ash_alloc(step_size);
	exhaust(0);
	steps_other(release_some);
}

/* A slab of a thread that is gone has free slots, and no chunk has units. */
static void leave_slab(void)
{
	for (unsigned i = 0; i < 3; i++)
		steps_take(step_size);
}

void path_adoptable(void)
{
	exhaust(0);
	steps_passing_thread(leave_slab);
	steps_fill_units();
}

void path_full_chunks(void)
{
	exhaust(0);
	steps_fill_units();
}

/* A large block alone in its chunk. */
void path_alone(void)
{
	steps_fill_units();
	path_take();
}

/* The slab has one block, and as many spares as can be are there already. */
void path_spares_full(void)
{
	unsigned i;

	for (i = 1; i <= SPARES + 1; i++)
		ash_release(ash_alloc(1500 + 900 * i));
	path_take();
}

/* One slab of the class besides the current one, with one block in it. */
void path_last_of_slab(void)
{
	unsigned first = 0, i, class = class_of(step_size);
	struct slab *s;

	reserve[first++] = ash_alloc(step_size);
	steps_held++;
	for (s = current_slab(seat.self, class); current_slab(seat.self, class) == s;) {
		reserve[first++] = ash_alloc(step_size);
		steps_held++;
	}
	for (i = 1; i + 1 < first; i++, steps_held--)
		ash_release(reserve[i]);
	step_block = reserve[0];
}

/* The other thread, which sleeps, has slabs of which all is released, and one in use. */
static void other_fills(void)
{
	unsigned i;

	for (i = 0; i < 14; i++)
		reserve[i] = memset(ash_alloc(step_size), 1, step_size);
	reserved = 14;
}

void path_sleeping_owner(void)
{
	steps_other(other_fills);
	CHECK(slab_find(map_find(reserve[1]), reserve[1], &path_sleepers));
	release_each(reserve, reserved);
	reserved = 0;
	steps_burst = 14;
}

/* As if so much that others emptied stayed already that no more may; a part is told of. */
void path_emptied_by_others(void)
{
	steps_other(other_fills);
	store_relaxed(&heap_default.idle.kept, (uint64_t)1 << 30);
	while (--reserved > 0)
		ash_release(reserve[reserved]);
	step_block = reserve[0];
	steps_held++;
	steps_burst = 14;
	store_relaxed(&heap_default.idle.busy, 2);
	store_relaxed(&heap_default.idle.hand, 0);
}

void path_detached(void)
{
	ash_thread_detach();
}

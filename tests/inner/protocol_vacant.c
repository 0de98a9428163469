/* SPDX-License-Identifier: MIT */
/* Releases into records that become vacant, or are. */
#include "inner/slots.h"
#include "support/stamp.h"
#include "thread/bin.h"
#include "thread/collect.h"
#include "thread/holder.h"
#include "thread/owner.h"
#include "thread/seat.h"
#include "thread/seating.h"

/* ---- leaving and writing at the same instant ---- */

static struct {
	size_t round[2];
	struct owner *o;
	void *p;
} meeting;

static void meet(unsigned self, size_t round, uint64_t delay)
{
	__atomic_store_n(&meeting.round[self], round, __ATOMIC_SEQ_CST);
	for (size_t i = 0; __atomic_load_n(&meeting.round[1 - self], __ATOMIC_SEQ_CST) < round; i++)
		if (i > 20000)
			rt_sleep(1);
	while (delay-- > 0)
		__asm__ volatile("");
}

static size_t meetings(void)
{
	return rt_under_qemu() ? 5000 : 100000;
}

static void sender_body(__attribute__((unused)) void *argument)
{
	struct rt_random random;

	rt_seed(&random, 1);
	for (size_t i = 1; i <= meetings(); i++) {
		meet(1, 2 * i - 1, rt_below(&random, 30));
		ash_release(meeting.p);
		meet(1, 2 * i, 0);
	}
}

/* Neither may overlook the other: what was released is always collected by one of them. */
TEST(protocol_entry_at_the_moment_of_leaving, 60)
{
	struct rt_thread *sender;
	struct rt_random random;
	struct slot_ref at;

	rt_seed(&random, 2);
	/* So that the slab does not go, and each block is the only one in its group. */
	for (size_t i = 0; i < GROUP_SLOTS; i++)
		at = place_of(ash_alloc(48));
	CHECK_EQ(at.index, GROUP_SLOTS - 1);
	sender = rt_thread_start(sender_body, NULL);
	for (size_t i = 1; i <= meetings(); i++) {
		struct owner *o = seat_take();

		bin_detach(o, 3);
		seat_open();
		meeting.p = ash_alloc(48);
		at = place_of(meeting.p);
		CHECK(at.group > 0);
		o = seat_take();
		meet(0, 2 * i - 1, rt_below(&random, 500));
		owner_vacate(o);
		collect_vacant(o);
		meet(0, 2 * i, 0);
		CHECK_EQ(at.slab->remote[at.group], 0);
		CHECK(owner_hold(o));
		seat_open();
	}
	rt_thread_join(sender);
}

/* ---- releases into a vacant record ---- */

enum { LEFT = 400, LEFT_SIZE = 200 };
static void *many[LEFT];

static void leave_many(__attribute__((unused)) void *argument)
{
	for (size_t i = 0; i < LEFT; i++)
		CHECK((many[i] = ash_alloc(LEFT_SIZE)) != NULL);
}

/* Only who frees the last slot of a group visits; what the others released is told by inbox. */
TEST(protocol_vacant_record_is_visited_by_groups, 10)
{
	struct ash_statistics st;
	struct slot_ref at;
	struct owner *o;
	size_t i, slabs;

	rt_thread_join(rt_thread_start(leave_many, NULL));
	at = place_of(many[0]);
	o = (struct owner *)(uintptr_t)at.slab->owner;
	CHECK(at.slab->groups > 1 && at.slab->slots % GROUP_SLOTS != 0);
	CHECK(place_of(many[LEFT - 1]).slab != at.slab);
	ash_stats(&st);
	slabs = st.slabs;
	for (i = 0; place_of(many[i]).index + 1 < GROUP_SLOTS; i++)
		ash_release(many[i]);
	ash_stats(&st);
	CHECK_EQ(st.pending, i);
	ash_release(many[i++]);
	ash_stats(&st);
	CHECK_EQ(st.pending, 0);
	CHECK_EQ(ash_check(), 0);
	/* The last one of a slab gives it back, also where its last group is a short one. */
	for (; i < LEFT; i++) {
		bool last = i + 1 == LEFT || place_of(many[i + 1]).slab != place_of(many[i]).slab;

		ash_release(many[i]);
		ash_stats(&st);
		if (last) {
			CHECK(st.slabs < slabs);
			slabs = st.slabs;
		}
	}
	CHECK_EQ(st.slabs, 0);
	CHECK_EQ(o->state, OWNER_VACANT);
	stamp_check_nothing_left();
}

static void release_odd(__attribute__((unused)) void *argument)
{
	for (size_t round = 0; round < meetings() / 500; round++) {
		meet(1, 2 * round + 1, 0);
		for (size_t i = 1; i < LEFT; i += 2)
			ash_release(many[i]);
		meet(1, 2 * round + 2, 0);
	}
}

/* Two that release the last blocks of a slab at the same time: one of them sees that it is empty. */
TEST(protocol_two_empty_a_vacant_record, 60)
{
	struct rt_thread *other = rt_thread_start(release_odd, NULL);
	struct ash_statistics st;

	for (size_t round = 0; round < meetings() / 500; round++) {
		rt_thread_join(rt_thread_start(leave_many, NULL));
		meet(0, 2 * round + 1, 0);
		for (size_t i = 0; i < LEFT; i += 2)
			ash_release(many[i]);
		meet(0, 2 * round + 2, 0);
		ash_stats(&st);
		CHECK_EQ(st.slabs, 0);
	}
	rt_thread_join(other);
	stamp_check_nothing_left();
}

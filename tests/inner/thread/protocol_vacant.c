/* SPDX-License-Identifier: MIT */
/* Releases into records that become vacant, or are. */
#include "inner/slots.h"
#include "support/stamp.h"
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

static void sender_body(UNUSED void *argument)
{
	struct rt_random random;

	rt_seed(&random, 1);
	for (size_t i = 1; i <= meetings(); i++) {
		meet(1, 2 * i - 1, rt_below(&random, 30));
		ash_release(meeting.p);
		meet(1, 2 * i, 0);
	}
}

/* Neither may overlook the other: a released block is always collected by one of them. */
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
		visit_vacant(o);
		meet(0, 2 * i, 0);
		CHECK_EQ(at.slab->remote[at.group], 0);
		/* The next time a thread leaves its own record, or one that it holds as a guest. */
		CHECK(i % 2 != 0 ? owner_hold_as(o, holder_seated(o->heap)) : owner_hold(o));
		seat_open();
	}
	rt_thread_join(sender);
}

/* ---- releases into a vacant record ---- */

enum { LEFT = 400, LEFT_SIZE = 200 };
static void *many[LEFT];

static void leave_many(UNUSED void *argument)
{
	alloc_each(many, LEFT, LEFT_SIZE);
}

/* Only the thread that frees the last slot of a group visits; releases of the others are told by inbox. */
TEST(protocol_vacant_record_is_visited_by_groups, 10)
{
	struct ash_statistics st;
	struct slot_ref at;
	struct owner *o;
	size_t i, slabs;

	rt_in_thread(leave_many, NULL);
	at = place_of(many[0]);
	o = (struct owner *)(uintptr_t)at.slab->owner;
	CHECK(at.slab->groups > 1 && at.slab->slots % GROUP_SLOTS != 0);
	CHECK(place_of(many[LEFT - 1]).slab != at.slab);
	slabs = stats_now().slabs;
	for (i = 0; place_of(many[i]).index + 1 < GROUP_SLOTS; i++)
		ash_release(many[i]);
	CHECK_EQ(stats_now().pending, i);
	ash_release(many[i++]);
	CHECK_EQ(stats_now().pending, 0);
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

static void release_odd(UNUSED void *argument)
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

	for (size_t round = 0; round < meetings() / 500; round++) {
		rt_in_thread(leave_many, NULL);
		meet(0, 2 * round + 1, 0);
		for (size_t i = 0; i < LEFT; i += 2)
			ash_release(many[i]);
		meet(0, 2 * round + 2, 0);
		CHECK_EQ(stats_now().slabs, 0);
	}
	rt_thread_join(other);
	stamp_check_nothing_left();
}

/* ---- state that stays ---- */

static char *kept[3];
static struct owner *record;

static void leave_three(UNUSED void *argument)
{
	for (size_t i = 0; i < 3; i++)
		CHECK((kept[i] = ash_alloc(i < 2 ? 300 : 5000)) != NULL);
	record = seat.self;
}

static void leave_three_in_a_thread(void)
{
	ash_release(ash_alloc(40)); /* a record of our own: theirs stays vacant */
	rt_in_thread(leave_three, NULL);
	CHECK(record != seat.self && record->state == OWNER_VACANT);
}

/* A visitor collects from the slab that it emptied; the others keep bit and entry for the next holder. */
TEST(protocol_visit_leaves_other_entries, 10)
{
	struct slot_ref at, large;

	leave_three_in_a_thread();
	at = place_of(kept[0]);
	large = place_of(kept[2]);
	ash_release(kept[0]);
	ash_release(kept[2]);
	CHECK_EQ(large.slab->owner, 0);
	CHECK_EQ(at.slab->owner, (uint64_t)(uintptr_t)record | OWNER_PENDING);
	CHECK_EQ(at.slab->remote[at.group], at.bit);
	CHECK_EQ(record->notified, INBOX_ENTRY);
	ash_release(kept[1]);
	CHECK_EQ(at.slab->owner, 0);
	stamp_check_nothing_left();
}

static void go_on(UNUSED void *argument)
{
	struct slab *s = place_of(kept[0]).slab;
	char *p = ash_alloc(300);

	CHECK(seat.self == record && current_slab(record, s->class) == s);
	CHECK(place_of(p).slab == s);
	/* And releases into it are no events because it might be empty. */
	CHECK_EQ(s->all_free, 0);
	ash_release(p);
}

/* The next thread goes on with the slabs that were current; when they get empty, they go back all the same. */
TEST(protocol_bins_stay_when_a_thread_ends, 10)
{
	leave_three_in_a_thread();
	CHECK(current_slab(record, class_of(300)) == place_of(kept[0]).slab);
	CHECK(current_slab(record, class_of(5000)) == place_of(kept[2]).slab);
	CHECK(place_of(kept[2]).slab->all_free != 0);
	rt_in_thread(go_on, NULL);
	release_each(kept, 3);
	CHECK(record->bins[class_of(300)].slab == 0 && record->bins[class_of(5000)].slab == 0);
	CHECK_EQ(stats_now().slabs, current_slab(seat.self, class_of(40))->units * UNIT_SIZE);
	stamp_check_nothing_left();
}

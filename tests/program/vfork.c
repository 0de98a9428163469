/* SPDX-License-Identifier: MIT */
/*
 * Children of vfork: another process for the kernel, but the parent's memory and
 * its thread's seat.  What they allocate, release and take over must hold in
 * the parent, which goes on when they are gone.
 */
/* promises: ash_alloc, ash_release, ash_trim */
#include "process.h"
#include "program/vfork.h"

/* By a thread that has worked, beside another one. */
static void beside_another(unsigned char seed, void (*body)(void))
{
	struct rt_thread *thread;

	natively_only();
	work(seed);
	thread = start_other();
	body();
	end_other(thread);
}

static void vforks(void)
{
	CHECK_EQ(in_vfork_child(0, child_works, NULL), 0);
	parent_goes_on();
}

TEST_CALL(vfork_by_a_thread_that_has_worked, 20, beside_another(5, vforks));

/* The thread's first call is its child's; afterwards no thread has the child's id. */
static void vforks_first(void *argument)
{
	struct rt_barrier *together = argument;

	CHECK_EQ(in_vfork_child(0, child_works, NULL), 0);
	others = seat.self;
	rt_barrier_wait(together);
	rt_barrier_wait(together);
	parent_goes_on();
}

TEST(vfork_before_the_threads_first_call, 20)
{
	struct rt_barrier together = {.count = 2};
	struct rt_thread *thread;

	natively_only();
	work(6);
	thread = rt_thread_start(vforks_first, &together);
	rt_barrier_wait(&together);
	CHECK_EQ(reap_all(&heap_default, seat.self), 0);
	CHECK(load_acquire(&others->state) != OWNER_VACANT);
	work(7);
	rt_barrier_wait(&together);
	rt_thread_join(thread);
	audit();
}

/* In the whole process: the heap's first record is made by a child of vfork. */
TEST(vfork_before_the_processes_first_call, 20)
{
	struct rt_thread *thread;

	natively_only();
	CHECK_EQ(in_vfork_child(0, child_works, NULL), 0);
	thread = start_other();
	CHECK_EQ(reap_all(&heap_default, seat.self), 0);
	parent_goes_on();
	end_other(thread);
}

/* ---- in a child of fork that has not looked at the heap yet ---- */

static void reaps(void *argument)
{
	(void)argument;
	work(8);
	CHECK_EQ(reap_all(&heap_default, seat.self), 0);
	CHECK(load_acquire(&((struct owner *)argument)->state) != OWNER_VACANT);
}

static void forked_vforks(UNUSED void *argument)
{
	struct owner *mine = seat.self;

	CHECK_EQ(in_vfork_child(0, child_works, NULL), 0);
	CHECK(seat.self == mine);
	/* The other thread of the parent does not exist here: its record was taken over. */
	CHECK_EQ(heap_default.settled, 1);
	CHECK_EQ(load_acquire(&others->state), OWNER_VACANT);
	rt_in_thread(reaps, mine);
	parent_goes_on();
}

static void forks(UNUSED void *argument)
{
	work(9);
	CHECK_EQ(in_child(forked_vforks, NULL), 0);
}

DOES(another_thread_forks, rt_in_thread(forks, NULL)); /* not the first thread */
TEST_CALL(vfork_in_an_unsettled_child_of_fork, 20, beside_another(10, another_thread_forks));

/* ---- by a thread that the child of fork started before it looked ---- */

static struct owner *forkers;

static void settles_no_record(UNUSED void *argument)
{
	work(11);
	CHECK_EQ(heap_default.settled, 0);
	CHECK(load_acquire(&forkers->state) != OWNER_VACANT);
}

static void second_thread_vforks(UNUSED void *argument)
{
	work(12);
	CHECK_EQ(in_vfork_child(0, settles_no_record, NULL), 0);
}

static void forked_starts(UNUSED void *argument)
{
	forkers = seat.self;
	rt_in_thread(second_thread_vforks, NULL);
	CHECK_EQ(heap_default.settled, 0);
	work(13);
	CHECK_EQ(heap_default.settled, 1);
	CHECK(seat.self == forkers);
	audit();
}

DOES(forks_a_starter, CHECK_EQ(in_child(forked_starts, NULL), 0));
TEST_CALL(vfork_by_another_thread_of_an_unsettled_child, 20, beside_another(14, forks_a_starter));

/* A child of vfork is not the only one that uses the memory. */
static void trims_borrowed(UNUSED void *argument)
{
	(void)ash_trim(0);
}

static void works_alone(UNUSED void *argument)
{
	struct rt_thread *thread = start_other();

	work(21);
	end_other(thread);
}

/* And the thread that forked had not called yet: nothing but the kernel tells it from others, and ash_trim asks. */
static void forked_without_a_number(UNUSED void *argument)
{
	CHECK(seat.self == owner_none);
	rt_in_thread(second_thread_vforks, NULL);
	CHECK_EQ(in_vfork_child(0, settles_no_record, NULL), 0);
	CHECK_EQ(heap_default.settled, 0);
	ash_release(ash_alloc(9000)); /* of a class that the child of vfork did not use */
	CHECK(load_acquire(&others->state) != OWNER_VACANT);
	while (!process_is_alone()) /* the kernel lets go of the second thread some time after its end */
		rt_yield();
	CHECK_EQ(in_vfork_child(0, trims_borrowed, NULL), 0);
	CHECK(load_acquire(&others->state) != OWNER_VACANT);
	(void)ash_trim(0);
	CHECK_EQ(load_acquire(&others->state), OWNER_VACANT);
	audit();
}

TEST(vfork_in_a_child_whose_thread_never_called, 20)
{
	struct rt_thread *thread;

	natively_only();
	/* The second record is when forks begin to be noticed; its thread is gone by the fork. */
	rt_in_thread(works_alone, NULL);
	thread = start_other();
	forkers = others;
	CHECK_EQ(in_child(forked_without_a_number, NULL), 0);
	end_other(thread);
}

/* ---- in pid namespaces ---- */

static void new_namespace(void)
{
	const long newpid = 0x20000000; /* CLONE_NEWPID, of children from now on */

	if (arch_unshare(newpid) != 0)
		rt_skip("no new pid namespace without root");
}

/* Where no thread has the ids of the parent's threads: that must not count as their end. */
DOES(vforks_into_a_namespace, new_namespace(); vforks());
TEST_CALL(vfork_into_a_pid_namespace, 20, beside_another(15, vforks_into_a_namespace));

/* And has even the parent's own ids, as a container's first process sees them. */
static void told_works(void *argument)
{
	told = 1;
	child_works(argument);
	told = 0;
}

static void vforks_with_own_ids(void)
{
	work(17);
	new_namespace();
	CHECK_EQ(in_vfork_child(0, told_works, NULL), 0);
	parent_goes_on();
}

TEST_CALL(vfork_into_a_pid_namespace_with_the_parents_ids, 20, beside_another(16, vforks_with_own_ids));

static void forked_in_namespace(UNUSED void *argument)
{
	work(18);
	rt_in_thread(reaps, seat.self);
	work(19);
	audit();
}

DOES(forks_into_a_namespace, new_namespace(); CHECK_EQ(in_child(forked_in_namespace, NULL), 0));
TEST_CALL(vfork_not_but_fork_into_a_pid_namespace, 20, beside_another(20, forks_into_a_namespace));

/* SPDX-License-Identifier: MIT */
/* Threads that end without ash_thread_detach: others take over what they held. */
#include "ashlar.h"
#include "process.h"
#include "rt.h"
#include "syscall.h"
#include "thread/holder.h"
#include "thread/reap.h"
#include "thread/seat.h"

enum { BLOCKS = 20000 };

static void *blocks[BLOCKS];
static struct owner *record;

static void ends_without_a_word(void *argument)
{
	size_t i;

	(void)argument;
	for (i = 0; i < BLOCKS; i++) {
		blocks[i] = ash_alloc(200);
		CHECK(blocks[i] != NULL);
	}
	record = seat.self;
	(void)arch_exit(0); /* past the runtime's ash_thread_detach */
}

/* The system frees a thread's id some time after it has told that the thread ended. */
static void wait_for_the_end(const struct owner *o)
{
	CHECK(o->identity != 0);
	while (!process_thread_is_gone(o->identity & UINT32_MAX))
		rt_yield();
}

TEST(reap_ended_thread, 20)
{
	struct ash_statistics before, after;
	struct rt_thread *thread;
	size_t i;

	ash_release(ash_alloc(1));
	thread = rt_thread_start(ends_without_a_word, NULL);
	rt_thread_join(thread);
	CHECK(load_acquire(&record->state) != OWNER_VACANT);
	wait_for_the_end(record);
	for (i = 0; i < BLOCKS; i++)
		ash_release(blocks[i]);
	ash_stats(&before);
	/* As many again fit into the slabs of the ended thread. */
	for (i = 0; i < BLOCKS; i++) {
		blocks[i] = ash_alloc(200);
		CHECK(blocks[i] != NULL);
	}
	ash_stats(&after);
	CHECK(after.slabs <= before.slabs); /* and of our own an empty one may have gone */
	CHECK_EQ(load_acquire(&record->state), OWNER_VACANT);
	CHECK_EQ(ash_check(), 0);
}

static _Atomic bool stop;
static struct rt_barrier together;

static void lives(void *argument)
{
	(void)argument;
	ash_release(ash_alloc(200));
	record = seat.self;
	rt_barrier_wait(&together);
	while (!stop)
		rt_yield();
}

/* A live thread's record is left alone, whatever it does. */
TEST(reap_spares_the_living, 20)
{
	struct rt_thread *thread;

	ash_release(ash_alloc(1));
	together.count = 2;
	thread = rt_thread_start(lives, NULL);
	rt_barrier_wait(&together);
	CHECK_EQ(reap_all(&heap_default, seat.self), 0);
	CHECK(load_acquire(&record->state) != OWNER_VACANT);
	/* Nor is one's own, by a handler that does not know it. */
	CHECK(seat.self->identity != 0);
	CHECK_EQ(reap_all(&heap_default, NULL), 0);
	stop = true;
	rt_thread_join(thread);
}

/* A growth tests a turn of records, from where the last one ended. */
TEST(reap_from_where_it_ended, 20)
{
	struct heap *h = &heap_default;

	ash_release(ash_alloc(1));
	rt_thread_join(rt_thread_start(ends_without_a_word, NULL));
	wait_for_the_end(record);
	CHECK(record->next == seat.self);
	h->reap_next = seat.self;
	reap_some(h, seat.self);
	CHECK(record->state != OWNER_VACANT && h->reap_next == NULL);
	reap_some(h, seat.self);
	CHECK_EQ(record->state, OWNER_VACANT);
}

/* The id of an ended thread comes back as the caller's: then that thread has ended for certain. */
TEST(reap_own_id_again, 20)
{
	struct rt_thread *thread;
	size_t i;

	ash_release(ash_alloc(1));
	thread = rt_thread_start(ends_without_a_word, NULL);
	rt_thread_join(thread);
	CHECK(record != seat.self);
	/* As if the system had given it to this thread; and the record was left in a mess. */
	ash_release(ash_alloc(5000)); /* looks at itself, now that there was another one */
	CHECK(seat.self->identity != 0);
	record->identity = seat.self->identity;
	record->bins[0].slab = NULL;
	record->bins[5].partial.head = record->bins[6].full.head;
	record->bins[7].partial.head = seat.self->bins[7].slab;
	CHECK_EQ(reap_all(&heap_default, seat.self), 1);
	CHECK_EQ(load_acquire(&record->state), OWNER_VACANT);
	CHECK_EQ(record->identity, 0);
	for (i = 0; i < BLOCKS; i++)
		ash_release(blocks[i]);
	CHECK_EQ(ash_check(), 0);
}

/* Process 1 of a namespace of ids finds its ended threads as any other does. */
TEST(reap_as_process_one, 20)
{
	enum { NEW_PID = 0x20000000 };
	struct rt_thread *thread;
	long pid;

	if (arch_unshare(NEW_PID) != 0)
		rt_skip("no new namespaces here (needs root)");
	pid = rt_fork();
	if (pid == 0) {
		CHECK_EQ(arch_getpid(), 1);
		ash_release(ash_alloc(1));
		thread = rt_thread_start(ends_without_a_word, NULL);
		rt_thread_join(thread);
		wait_for_the_end(record);
		CHECK_EQ(reap_all(&heap_default, seat.self), 1);
		CHECK_EQ(load_acquire(&record->state), OWNER_VACANT);
		rt_exit(0);
	}
	CHECK_EQ(rt_wait(pid), 0);
}

static struct owner *firsts;

/* The heap's first record has the number of the process that is gone. */
static void reaps(void *argument)
{
	(void)argument;
	ash_release(ash_alloc(1));
	CHECK_EQ(reap_all(&heap_default, seat.self), 0);
	CHECK(load_acquire(&firsts->state) != OWNER_VACANT);
}

/* As a daemon does it: forked while there was one thread, and the parent has ended. */
TEST(reap_spares_a_daemon, 20)
{
	const long subreaper = 36; /* PR_SET_CHILD_SUBREAPER: the daemon becomes ours */
	long parent;
	int status = 1;

	if (rt_under_qemu())
		rt_skip("QEMU 7.2 has no subreapers");
	CHECK_EQ(arch_prctl(subreaper, 1, 0, 0, 0), 0);
	parent = rt_fork();
	if (parent == 0) {
		long process = arch_gettid();

		ash_release(ash_alloc(1));
		firsts = seat.self;
		if (rt_fork() > 0)
			rt_exit(0);
		while (!process_thread_is_gone((uint64_t)process))
			rt_yield();
		rt_thread_join(rt_thread_start(reaps, NULL));
		rt_exit(0);
	}
	CHECK_EQ(rt_wait(parent), 0);
	CHECK(rt_wait_any(&status) > 0);
	CHECK_EQ(status, 0);
}

/* SPDX-License-Identifier: MIT */
/* Threads that end without ash_thread_detach: others take over their memory. */
#include "inner/thread_at.h"
#include "process.h"
#include "support/another.h"
#include "support/blocks.h"
#include "slab/look.h"
#include "thread/seating.h"

enum { BLOCKS = 20000 };

static void *blocks[BLOCKS];
static struct owner *record;

static void works(void)
{
	alloc_each(blocks, BLOCKS, 200);
	ash_release(ash_alloc(1000)); /* an empty slab, which is no spare */
	record = seat.self;
}

static void ends_without_a_word(UNUSED void *argument)
{
	works();
	(void)arch_exit(0); /* past the runtime's ash_thread_detach */
}

TEST(reap_ended_thread, 20)
{
	struct ash_statistics before;

	ash_release(ash_alloc(1));
	rt_in_thread(ends_without_a_word, NULL);
	CHECK(load_acquire(&record->state) != OWNER_VACANT);
	release_each(blocks, BLOCKS);
	ash_stats(&before);
	/* As many again fit into the slabs of the ended thread. */
	alloc_each(blocks, BLOCKS, 200);
	CHECK(stats_now().slabs <= before.slabs); /* and of our own an empty one may have gone */
	CHECK_EQ(load_acquire(&record->state), OWNER_VACANT);
	CHECK_EQ(ash_check(), 0);
}

static void lives(void)
{
	ash_release(ash_alloc(200));
	record = seat.self;
}

/* A live thread's record is left alone, whatever it does. */
TEST(reap_spares_the_living, 20)
{
	ash_release(ash_alloc(1));
	another_stays(lives);
	CHECK_EQ(reap_all(&heap_default, seat.self), 0);
	reap_one(record, seat.self);
	CHECK(load_acquire(&record->state) != OWNER_VACANT);
	/* Nor is one's own, by a handler that does not know it. */
	CHECK_EQ(reap_all(&heap_default, NULL), 0);
	another_goes();
}

/* A growth tests a turn of records, from where the last one ended. */
TEST(reap_from_where_it_ended, 20)
{
	struct heap *h = &heap_default;
	size_t slabs;

	ash_release(ash_alloc(1));
	rt_in_thread(ends_without_a_word, NULL);
	CHECK(record->next == seat.self);
	slabs = stats_now().slabs;
	h->reap_next = seat.self;
	reap_some(h, seat.self);
	CHECK(record->state != OWNER_VACANT && h->reap_next == NULL);
	reap_some(h, seat.self);
	CHECK_EQ(record->state, OWNER_VACANT);
	CHECK(stats_now().slabs < slabs);
}

static void ends_soon(UNUSED void *argument)
{
	ash_release(ash_alloc(16));
	record = seat.self;
	(void)arch_exit(0);
}

TEST(reap_one_of_two, 20)
{
	struct owner *former;

	ash_release(ash_alloc(1));
	rt_in_thread(ends_soon, NULL);
	former = record;
	rt_in_thread(ends_soon, NULL);
	CHECK(record != former && record->next == former);
	reap_one(record, seat.self);
	CHECK(record->state == OWNER_VACANT && former->state != OWNER_VACANT);
}

/* ---- threads whose memory stays mapped ---- */

static void comes_next(void)
{
	ash_release(ash_alloc(16));
	record = seat.self;
	ash_thread_detach();
}

/* Of a record that was rebuilt each slab with free slots is on its list, and its bits alone say which groups are ready. */
static void check_rebuilt(const struct owner *o)
{
	struct walk w = walk_from(&heap_default);
	size_t listed = 0, ready = 0;
	const struct slab *s;

	for (unsigned class = 0; class < CLASSES; class++) {
		CHECK_EQ(o->bins[class].slab, 0);
		for (s = o->bins[class].partial.head; s != NULL; s = s->next)
			listed++;
	}
	while ((s = walk_next(&w)) != NULL)
		if (owner_has(o, s)) {
			for (unsigned g = 0; g < s->groups; g++)
				CHECK((s->ready >> g & 1) == (s->free[g] != 0));
			CHECK(s->dirty);
			ready += s->ready != 0;
		}
	CHECK_EQ(listed, ready);
}

TEST(reap_seat_again, 20)
{
	struct owner *ended;

	ash_release(ash_alloc(1));
	thread_at(0, works);
	ended = record;
	/* Nothing tells that it has ended; a thread elsewhere says nothing of it. */
	CHECK_EQ(reap_all(&heap_default, seat.self), 0);
	thread_at(1, comes_next);
	CHECK(record != ended);
	CHECK_EQ(reap_all(&heap_default, seat.self), 0);
	/* And it was left in a mess. */
	ended->building = 1;
	ended->bins[0].slab = 0;
	ended->bins[5].partial.head = ended->bins[6].partial.head;
	ended->bins[7].partial.head = (struct slab *)8; /* NOLINT: not followed */
	thread_at(0, comes_next);
	CHECK(record != ended);
	CHECK_EQ(reap_all(&heap_default, seat.self), 1);
	CHECK_EQ(load_acquire(&ended->state), OWNER_VACANT);
	check_rebuilt(ended);
	release_each(blocks, BLOCKS);
	CHECK_EQ(ash_check(), 0);
}

/* If the caller is the only thread, ash_trim finds all others ended. */
TEST(reap_alone_by_trim, 20)
{
	if (rt_under_qemu())
		rt_skip("an emulator has threads of its own");
	ash_release(ash_alloc(1));
	thread_at(0, works);
	CHECK(load_acquire(&record->state) != OWNER_VACANT);
	/* The kernel lets go of a thread some time after it has told that it ended. */
	while (!process_is_alone())
		rt_yield();
	(void)ash_trim(0);
	CHECK_EQ(load_acquire(&record->state), OWNER_VACANT);
	CHECK(seat.self->state != OWNER_VACANT);
	release_each(blocks, BLOCKS);
	CHECK_EQ(ash_check(), 0);
}

/* Process 1 of a namespace of ids finds its ended threads as any other does. */
TEST(reap_as_process_one, 20)
{
	enum { NEW_PID = 0x20000000 };

	if (arch_unshare(NEW_PID) != 0)
		rt_skip("no new namespaces here (needs root)");
	IN_CHILD {
		CHECK_EQ(arch_getpid(), 1);
		ash_release(ash_alloc(1));
		rt_in_thread(ends_without_a_word, NULL);
			CHECK_EQ(reap_all(&heap_default, seat.self), 1);
		CHECK_EQ(load_acquire(&record->state), OWNER_VACANT);
	}
}

static struct owner *firsts;

/* The heap's first record has the number of the process that is gone. */
static void reaps(UNUSED void *argument)
{
	ash_release(ash_alloc(1));
	CHECK_EQ(reap_all(&heap_default, seat.self), 0);
	CHECK(load_acquire(&firsts->state) != OWNER_VACANT);
}

/* As a daemon does it: forked while there was one thread, and the parent has ended. */
TEST(reap_spares_a_daemon, 20)
{
	const long subreaper = 36; /* PR_SET_CHILD_SUBREAPER: the daemon becomes ours */
	int status = 1;

	if (rt_under_qemu())
		rt_skip("QEMU 7.2 has no subreapers");
	CHECK_EQ(arch_prctl(subreaper, 1, 0, 0, 0), 0);
	IN_CHILD {
		long process = arch_gettid();

		ash_release(ash_alloc(1));
		firsts = seat.self;
		if (rt_fork() > 0)
			rt_exit(0);
		while (!process_thread_is_gone((uint64_t)process))
			rt_yield();
		rt_in_thread(reaps, NULL);
	}
	CHECK(rt_wait_any(&status) > 0);
	CHECK_EQ(status, 0);
}

/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* LDFLAGS: -Wl,--wrap=arch_gettid,--wrap=arch_getpid,--wrap=arch_tgkill */
/* clang-format on */
/*
 * Identities that collide: thread ids come round, repeat in pid namespaces, and
 * may not be told at all.  A record of a live thread stays that thread's.
 * What the system would say some day is said here at once, by wrappers.
 */
#include "heaps/instance.h"
#include "program/audit.h"
#include "program/child.h"
#include "shm/seats.h"
#include "syscall.h"
#include "thread/reap.h"
#include "thread/seat.h"

long __real_arch_gettid(void);
long __real_arch_getpid(void);
long __real_arch_tgkill(long pid, long tid, long signal);
long __wrap_arch_gettid(void);
long __wrap_arch_getpid(void);
long __wrap_arch_tgkill(long pid, long tid, long signal);

/* What the calling thread is told instead of its id; 0: the truth. */
static _Thread_local long told_thread;
static long told_process;

long __wrap_arch_gettid(void)
{
	return told_thread != 0 ? told_thread : __real_arch_gettid();
}

long __wrap_arch_getpid(void)
{
	return told_process != 0 ? told_process : __real_arch_getpid();
}

/* A filter's answer to all, or a namespace's, which knows only the caller. */
static enum { TRUTH, NOBODY_IS_THERE, ONLY_ME } told_kill;

long __wrap_arch_tgkill(long pid, long tid, long signal)
{
	const long esrch = -3;

	if (told_kill == TRUTH)
		return __real_arch_tgkill(pid, tid, signal);
	return told_kill == ONLY_ME && tid == arch_gettid() ? 0 : esrch;
}

enum { BLOCKS = 3000 };

static struct slab *slab_of(const void *p)
{
	struct slab *s = NULL;

	CHECK(slab_find(map_find(p), p, &s));
	return s;
}

/* Two sets of blocks, held at once by two threads. */
static unsigned char *blocks[2][BLOCKS];

static void fill(unsigned set, ash_heap *heap)
{
	unsigned i;

	for (i = 0; i < BLOCKS; i++) {
		size_t size = 16 + i % 7 * 100;

		blocks[set][i] = heap == NULL ? ash_alloc(size) : ash_heap_alloc(heap, size);
		CHECK(blocks[set][i] != NULL);
		memset(blocks[set][i], (int)(set * 101 + 1), 16);
	}
}

static void verify_and_release(unsigned set)
{
	unsigned i;

	for (i = 0; i < BLOCKS; i++) {
		holds(blocks[set][i], 16, (unsigned char)(set * 101 + 1));
		ash_release(blocks[set][i]);
	}
}

struct other {
	long told;
	ash_heap *heap;
	struct owner *record;
	struct rt_barrier *turns;
};

static struct owner *record_in(ash_heap *heap)
{
	return heap == NULL ? seat.self : seats_self(heap_of(heap));
}

static void other_thread(void *argument)
{
	struct other *o = argument;

	told_thread = o->told;
	fill(1, o->heap);
	o->record = record_in(o->heap);
	rt_barrier_wait(o->turns);
	rt_barrier_wait(o->turns);
	verify_and_release(1);
}

/* A second thread that is told this id works beside the caller, whose blocks stay its own. */
static void beside(long told, ash_heap *heap)
{
	struct rt_barrier turns = {.count = 2};
	struct other o = {told, heap, NULL, &turns};
	struct rt_thread *thread;

	fill(0, heap);
	thread = rt_thread_start(other_thread, &o);
	CHECK(thread != NULL);
	rt_barrier_wait(&turns);
	CHECK(o.record != record_in(heap));
	/* Two that were refused the id have none in common. */
	CHECK(told > 0 || reap_all(&heap_default, seat.self) == 0);
	CHECK(owner_has(record_in(heap), slab_of(blocks[0][BLOCKS - 1])));
	verify_and_release(0);
	fill(0, heap);
	verify_and_release(0);
	rt_barrier_wait(&turns);
	rt_thread_join(thread);
	audit();
}

TEST(identity_two_threads_of_one_id, 20)
{
	told_thread = 4711;
	beside(4711, NULL);
}

TEST(identity_two_threads_of_one_id_in_a_heap, 20)
{
	ash_heap *heap = ash_heap_create(NULL);

	told_thread = 4711;
	beside(4711, heap);
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* A filter refuses gettid, to all threads: with any errno. */
TEST(identity_refused, 20)
{
	static const long errors[] = {-1, -3, -11, -12, -38};
	size_t i;

	for (i = 0; i < sizeof errors / sizeof *errors; i++) {
		told_thread = errors[i];
		beside(errors[i], NULL);
		told_process = errors[i];
		beside(errors[i], NULL);
		CHECK_EQ(reap_all(&heap_default, seat.self), 0);
		told_process = 0;
	}
}

static void waits(void *argument)
{
	struct other *o = argument;

	ash_release(ash_alloc(300));
	o->record = seat.self;
	rt_barrier_wait(o->turns);
	rt_barrier_wait(o->turns);
}

/* A filter that answers ESRCH says nothing of the thread. */
TEST(identity_filter_says_all_have_ended, 20)
{
	struct rt_barrier turns = {.count = 2};
	struct other o = {0, NULL, NULL, &turns};
	struct rt_thread *thread;

	fill(0, NULL);
	thread = rt_thread_start(waits, &o);
	rt_barrier_wait(&turns);
	told_kill = NOBODY_IS_THERE;
	CHECK(o.record->identity != 0);
	CHECK_EQ(reap_all(&heap_default, seat.self), 0);
	verify_and_release(0);
	told_kill = TRUTH;
	rt_barrier_wait(&turns);
	rt_thread_join(thread);
}

/* A daemon: forked by the only thread; in the child another thread gets that one's id. */
static void daemon_child(void *argument)
{
	beside(*(long *)argument, NULL);
}

TEST(identity_of_the_parent_comes_round, 20)
{
	long parent = arch_gettid();

	fill(1, NULL);
	CHECK_EQ(in_child(daemon_child, &parent), 0);
	verify_and_release(1);
}

/* The same, forked by a process of two threads. */
TEST(identity_of_a_parents_thread_comes_round, 20)
{
	struct rt_barrier turns = {.count = 2};
	struct other o = {0, NULL, NULL, &turns};
	struct rt_thread *thread = rt_thread_start(waits, &o);
	long parent = arch_gettid();

	if (rt_under_qemu())
		rt_skip("QEMU 7.2 aborts when a forked child of a threaded process starts a thread");
	rt_barrier_wait(&turns);
	fill(1, NULL);
	CHECK_EQ(in_child(daemon_child, &parent), 0);
	verify_and_release(1);
	rt_barrier_wait(&turns);
	rt_thread_join(thread);
}

/*
 * And in a namespace in which the child has its parent's number, and no thread
 * has the ids of the parent's threads: the child's second thread looks first.
 */
static struct owner *forkers;

static void reaps(void *argument)
{
	struct other *o = argument;

	ash_release(ash_alloc(300));
	CHECK(seat.self->identity != 0);
	CHECK_EQ(reap_all(&heap_default, seat.self), 0);
	CHECK(load_acquire(&forkers->state) != OWNER_VACANT);
	CHECK(load_acquire(&o->record->state) != OWNER_VACANT);
}

static void namesake_child(void *argument)
{
	struct other *o = argument;

	told_kill = ONLY_ME;
	rt_thread_join(rt_thread_start(reaps, argument));
	verify_and_release(0);
	fill(0, NULL);
	verify_and_release(0);
	CHECK(seat.self == forkers);
	CHECK_EQ(load_acquire(&o->record->state), OWNER_VACANT);
}

TEST(identity_child_of_the_parents_number, 20)
{
	struct rt_barrier turns = {.count = 2};
	struct other o = {0, NULL, NULL, &turns};
	struct rt_thread *thread = rt_thread_start(waits, &o);

	if (rt_under_qemu())
		rt_skip("QEMU 7.2 aborts when a forked child of a threaded process starts a thread");
	rt_barrier_wait(&turns);
	told_process = arch_getpid();
	fill(0, NULL);
	forkers = seat.self;
	CHECK(forkers->identity != 0);
	CHECK_EQ(in_child(namesake_child, &o), 0);
	rt_barrier_wait(&turns);
	rt_thread_join(thread);
}

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	return rt_run_tests(argc, argv);
}

/* SPDX-License-Identifier: MIT */
/* Forks at moments that chance seldom shows: blocks that the child must find, and those that it must leave alone. */
#include "inner/slots.h"
#include "support/another.h"
#include "support/handler_at_step.h"
#include "syscall.h"
#include "thread/seating.h"

/* A thread that vanishes in a child. */
DOES(has_a_record, ash_release(ash_alloc(100)));

/* ---- another thread was releasing a block of ours, and had set no mark yet ---- */

TEST(fork_between_word_and_mark, 20)
{
	struct slot_ref at;
	void *p;

	ash_release(ash_alloc(1));
	another_stays(has_a_record);
	p = ash_alloc(200);
	(void)ash_alloc(200);
	at = place_of(p);
	fetch_or_seq_cst(&at.slab->remote[at.group], at.bit);
	CHECK((at.slab->owner & OWNER_PENDING) == 0);
	IN_CHILD {
		/* A slab is needed: that settles the fork.  The bit is found in a turn, or by a trim. */
		CHECK(ash_alloc(9000) != NULL);
		(void)ash_trim(SIZE_MAX);
		CHECK_EQ(stats_now().pending, 0);
		CHECK_EQ(ash_check(), 0);
	}
}

/* A large block takes units without a slab list: records of threads that vanished are taken over, too. */
TEST(fork_noticed_by_a_large_block, 20)
{
	uint64_t before;

	ash_release(ash_alloc(1));
	another_stays(has_a_record);
	before = heap_default.settled;
	IN_CHILD {
		CHECK(ash_alloc(100000) != NULL);
		CHECK(heap_default.settled != before);
		CHECK_EQ(heap_default.settled, generation_now());
		CHECK_EQ(ash_check(), 0);
	}
}

/* ---- a handler forks while its thread is a guest: the child goes on with the call, too ---- */

static struct owner *vacant;
static void *block;
static bool was_held;
static long parent;

static void leave(UNUSED void *argument)
{
	block = ash_alloc(48);
	(void)ash_alloc(3000);
	vacant = seat.self;
}

static void act_fork(void)
{
	uint64_t state = load_acquire(&vacant->state);
	long pid;

	was_held |= state != OWNER_VACANT;
	pid = rt_fork();
	if (pid != 0) {
		CHECK_EQ(rt_wait(pid), 0);
		return;
	}
	/* Slabs are needed, several times: but the slab that the call holds is its own. */
	for (size_t size = 5000; size < 20000; size += 3000)
		CHECK(ash_alloc(size) != NULL);
	if (state != OWNER_VACANT)
		CHECK_EQ(load_acquire(&vacant->state), state);
}

DOES(do_release, ash_release(block));

TEST(fork_in_the_midst_of_a_visit, 30)
{
	bool more = true;
	size_t k;

	parent = arch_getpid();
	ash_release(ash_alloc(1));
	another_stays(has_a_record);
	step_begin(act_fork);
	for (k = 0; more; k += rt_under_qemu() ? 97 : 37) {
		rt_in_thread(leave, NULL);
		more = with_act_at(k, do_release);
		CHECK(load_acquire(&vacant->state) == OWNER_VACANT && seat.guest == 0);
		if (arch_getpid() != parent) {
			/* Later, out of the call, the fork is settled. */
			for (size_t size = 25000; size < 40000; size += 5000)
				CHECK(ash_alloc(size) != NULL);
			CHECK_EQ(heap_default.settled, generation_now());
			CHECK_EQ(ash_check(), 0);
			rt_exit(0);
		}
	}
	CHECK(was_held);
	CHECK_EQ(ash_check(), 0);
}

/* ---- a handler forks while its thread purges a slab: in the child the purge goes on, too ---- */

enum { HALF = 15000 }; /* two slots are a slab */
static unsigned char *halves[3];
static struct slab *held;
static bool was_free;

static void takes_a_slot(void)
{
	long pid = rt_fork();

	if (pid != 0) {
		CHECK_EQ(rt_wait(pid), 0);
		return;
	}
	was_free = load_relaxed(&held->hold) == SLAB_IDLE;
	halves[2] = NOT_NULL(ash_alloc(HALF));
	CHECK(!was_free || place_of(halves[2]).slab == held);
	memset(halves[2], 9, HALF);
}

static void do_purge(void)
{
	size_t room = 0;

	(void)slabs_purge_held(&heap_default, held, &room);
}

TEST(fork_in_the_midst_of_a_purge, 30)
{
	bool more = true;
	size_t k;

	parent = arch_getpid();
	for (k = 0; k < 2; k++)
		halves[k] = NOT_NULL(ash_alloc(HALF));
	another_stays(has_a_record);
	held = place_of(halves[0]).slab;
	CHECK(place_of(halves[1]).slab == held && held->slots == 2);
	ash_release(halves[0]);
	seat_close();
	bin_detach(seat.self, held->class);
	seat_open();
	step_begin(takes_a_slot);
	for (k = 0; more; k += rt_under_qemu() ? 97 : 17) {
		memset(halves[0], 1, HALF); /* to be purged again */
		memset(halves[1], 2, HALF);
		more = with_act_at(k, do_purge);
		CHECK(load_relaxed(&held->hold) == SLAB_IDLE || arch_getpid() != parent);
		if (arch_getpid() == parent)
			continue;
		for (size_t i = 0; i < HALF; i++)
			CHECK(halves[1][i] == 2 && halves[2][i] == 9);
		CHECK_EQ(ash_check(), 0);
		/* Later, out of the call, the fork is settled, and the slab serves again. */
		was_free |= place_of(halves[2]).slab == held;
		for (size_t i = 0; i < 4; i++)
			was_free |= place_of(ash_alloc(HALF)).slab == held;
		CHECK(was_free && seat.guest == 0);
		CHECK_EQ(heap_default.settled, generation_now());
		rt_exit(0);
	}
	CHECK(k > 100 && seat.guest == 0);
	CHECK_EQ(ash_check(), 0);
}

/* ---- a daemon, forked by a thread that was not the first: no thread has that id now ---- */

static struct owner *daemons;
static _Atomic long id;
static int result[2];

size_t reap_all(struct heap *h, struct owner *o); /* the core's, wherever it is declared */

static void childs_thread(UNUSED void *argument)
{
	uint64_t state = load_acquire(&daemons->state);

	ash_release(ash_alloc(1));
	CHECK_EQ(reap_all(&heap_default, seat.self), 0);
	/* It grows the heap many times: a thread that is gone would be found. */
	for (unsigned i = 0; i < 2000; i++)
		CHECK(ash_alloc(30000) != NULL);
	CHECK(state != OWNER_VACANT);
	CHECK_EQ(load_acquire(&daemons->state), state);
}

static void forker(UNUSED void *argument)
{
	void *p = ash_alloc(100);
	long pid;
	int ok = 0;

	daemons = seat.self;
	id = arch_gettid();
	pid = rt_fork();
	if (pid != 0)
		return;
	while (arch_tkill(id, 0) == 0)
		rt_yield();
	rt_in_thread(childs_thread, NULL);
	CHECK(seat.self == daemons);
	ash_release(p);
	CHECK(ash_alloc(9000) != NULL);
	CHECK_EQ(ash_check(), 0);
	(void)arch_write(result[1], &ok, sizeof ok);
	rt_exit(0);
}

TEST(fork_by_a_thread_that_ends, 30)
{
	int ok = 1;

	if (rt_under_qemu())
		rt_skip("QEMU 7.2 aborts when a forked child of a threaded process starts a thread");
	ash_release(ash_alloc(1));
	CHECK_EQ(arch_pipe2(result, 0), 0);
	rt_in_thread(forker, NULL);
	arch_close(result[1]);
	CHECK_EQ(arch_read(result[0], &ok, sizeof ok), sizeof ok); /* else it died */
	CHECK_EQ(ok, 0);
}

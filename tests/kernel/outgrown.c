/* SPDX-License-Identifier: MIT */
/*
 * Heaps that outgrow a memory cgroup: the result is NULL, or the kernel ends the process that asks.
 * What is seen up to then, and what other processes see afterwards, is whole.
 */
/* promises: ash_alloc, ash_heap_recover, ash_heap_release_owner */
#include "ashlar_heap.h"
#include "kernel/group.h"
#include "support/resident.h"
#include "support/stamp.h"

enum { ROUNDS = 8, HELD = 128, MOST = 1 << 18, NEW_PIDS = 0x20000000 };

static struct notes {
	_Atomic size_t bytes, operations;
	uint64_t table[HELD]; /* stamps of the blocks that the victim has in the shared heap */
} *notes;

static uint64_t *stamps;
static size_t count;

/* Blocks of all sizes until there is no memory, or so many bytes. */
static size_t fill(size_t most)
{
	struct rt_random r;
	size_t total = 0;

	rt_seed(&r, rt_test_seed());
	while (total < most && count < MOST) {
		size_t size = stamp_random_size(&r, true);
		void *p = ash_alloc(size);

		if (p == NULL)
			break;
		touch(p, size);
		stamps[count++] = stamp_set(p, size, rt_next(&r));
		notes->bytes = total += size;
		stamp_check(stamps[rt_below(&r, count)]);
	}
	return total;
}

static void release_all(void)
{
	while (count > 0)
		stamp_release(stamps[--count]);
	stamp_check_nothing_left();
}

static void begin(void)
{
	notes = rt_map_shared(sizeof(*notes));
	stamps = rt_map(MOST * sizeof(*stamps));
	CHECK(notes != NULL && stamps != NULL);
}

static _Noreturn void outgrow(void)
{
	group_victim();
	(void)fill(SIZE_MAX);
	release_all();
	rt_exit(0);
}

/* Ended by the kernel for want of memory, or by itself with all intact. */
static void judge(int status, size_t most, size_t kills)
{
	if (status == KILLED) {
		rt_print("     the kernel ended it at %zu KiB of %zu\n", notes->bytes / 1024, most / 1024);
		CHECK(group_number("memory.events", "oom_kill ") > kills);
		CHECK(notes->bytes > most / 2);
	} else {
		rt_print("     NULL at %zu KiB of %zu\n", notes->bytes / 1024, most / 1024);
		CHECK_EQ(status, 0);
	}
}

TEST(outgrown_heap, 60)
{
	size_t most = group_limit("memory.max");

	begin();
	for (unsigned i = 0; i < ROUNDS / 4; i++) {
		size_t kills = group_number("memory.events", "oom_kill ");

		judge(rt_wait(CHILD(outgrow())), most, kills);
	}
}

/* The first process of a namespace has no protection from this, and takes the others with it. */
TEST(outgrown_first_of_a_namespace, 60)
{
	size_t most = group_limit("memory.max"), kills = group_number("memory.events", "oom_kill ");

	begin();
	if (arch_unshare(NEW_PIDS) != 0)
		rt_skip("no namespaces of process ids here");
	judge(rt_wait(CHILD(CHECK_EQ(arch_getpid(), 1); outgrow())), most, kills);
}

/* ---- a heap shared with the one who is ended ---- */

static ash_heap *heap;

static void work(__attribute__((unused)) void *argument)
{
	struct rt_random r;

	rt_seed(&r, rt_now());
	for (;;) {
		uint64_t *slot = &notes->table[rt_below(&r, HELD)], was = *slot;
		size_t size = stamp_random_size(&r, true);
		void *p;

		*slot = 0; /* in flight */
		if (was != 0) {
			stamp_release(was);
		} else if ((p = ash_heap_alloc(heap, size)) != NULL) {
			*slot = stamp_set(p, size, rt_next(&r));
		}
		notes->operations++;
	}
}

static _Noreturn void outgrow_beside_work(void)
{
	group_victim();
	CHECK(rt_thread_start(work, NULL) != NULL);
	while (notes->operations < 1000)
		rt_yield();
	for (;;) {
		unsigned char *p = ash_alloc(64 * KIB);

		if (p != NULL)
			touch(p, 64 * KIB);
	}
}

static size_t listed, strays;
static uint64_t dead;

static int visit(__attribute__((unused)) void *context, void *p, __attribute__((unused)) size_t size,
		 const struct ash_heap_owner *owner)
{
	for (unsigned i = 0; i < HELD; i++)
		if (notes->table[i] != 0 && stamp_block(notes->table[i]) == p) {
			CHECK(!owner->live);
			stamp_check(notes->table[i]);
			dead = owner->id;
			listed++;
			return 0;
		}
	strays++;
	if (owner->id == 0)
		ash_heap_release(heap, p);
	else
		dead = owner->id;
	return 0;
}

TEST(outgrown_beside_a_shared_heap, 120)
{
	struct ash_statistics st;

	(void)group_limit("memory.max");
	begin();
	heap = NOT_NULL(ash_heap_create_shared(256 * MIB, NULL));
	for (unsigned i = 0; i < ROUNDS; i++) {
		size_t published = 0;

		memset(notes, 0, sizeof(*notes));
		CHECK_EQ(rt_wait(CHILD(outgrow_beside_work())), KILLED);
		for (unsigned k = 0; k < HELD; k++)
			published += notes->table[k] != 0;
		(void)ash_heap_recover(heap);
		CHECK_EQ(ash_heap_check(heap), 0);
		listed = strays = dead = 0;
		(void)ash_heap_walk(heap, visit, NULL);
		rt_print("     %zu operations, %zu blocks, %zu in flight\n", notes->operations, listed, strays);
		CHECK_EQ(listed, published);
		CHECK(strays <= 1);
		if (dead != 0)
			(void)ash_heap_release_owner(heap, dead);
		(void)ash_heap_trim(heap, 0);
		CHECK_EQ(ash_heap_check(heap), 0);
		ash_heap_stats(heap, &st);
		CHECK_EQ(st.blocks, 0);
	}
	ash_heap_destroy(heap);
}

/* ---- memory.high: the kernel slows down who is above, and what is trimmed counts no more ---- */

TEST(outgrown_high_is_left_by_trim, 60)
{
	size_t high = group_limit("memory.high"), before, there, after;

	begin();
	before = group_number("memory.current", "");
	CHECK(before < high / 2);
	(void)fill(high - before + high / 32);
	there = group_number("memory.current", "");
	CHECK(group_number("memory.events", "high ") > 0);
	release_all();
	(void)ash_trim(0);
	after = group_number("memory.current", "");
	rt_print("     memory.current: %zu KiB, full %zu, trimmed %zu, memory.high %zu\n", before / 1024, there / 1024,
		 after / 1024, high / 1024);
	CHECK(there > high - high / 8);
	CHECK(after < before + high / 8);
}

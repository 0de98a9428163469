/* SPDX-License-Identifier: MIT */
/*
 * Two that make a heap in one file.  One of them is stopped at each of its system
 * calls in turn; there the other one makes it, or the first one dies, or the
 * call fails.
 */
/* promises: ash_heap_create_file, ash_heap_open_file, ash_heap_adopt_file */
#include "store/program/claim.h"

/* There the other makes it, too: exactly one of the two has made it. */
static void both_make(void)
{
	enum outcome one;

	stopped = other_makes;
	one = make_one();
	CHECK((one == MADE) + (other == MADE) == 1);
	if (by_open)
		CHECK(one != NOTHING && other != NOTHING);
}

static void between(bool open)
{
	by_open = open;
	rt_print("     %zu calls\n", at_each_call(both_make));
}

TEST_CALL(claim_two_create, 60, between(false));
TEST_CALL(claim_two_open, 60, between(true));

/* It dies there: the file is empty, half-made or done, and the next one goes on from there. */
static void deaths(void)
{
	size_t k, count = calls_of_one(), half = 0, done = 0;

	for (k = 1; k <= count; k = next_call(k)) {
		enum ash_attach why = ASH_ATTACHED;

		begin();
		stop_at = k;
		CHECK_EQ(rt_wait(CHILD(stopped = dies; (void)make_one())), 50);
		if (ash_heap_attach_file(file, &why) == NULL) {
			CHECK(why == ASH_ATTACH_NO_HEAP || why == ASH_ATTACH_UNFINISHED);
			half += why == ASH_ATTACH_UNFINISHED;
			CHECK_EQ(make_beside(), MADE);
			heap_is_good();
		}
		done += why == ASH_ATTACHED;
		arch_close(file);
	}
	rt_print("     %zu deaths: %zu half-made, %zu done\n", count, half, done);
	CHECK(half > 0);
}

TEST(claim_dies, 60)
{
	by_open = false;
	deaths();
	by_open = true;
	deaths();
}

static long one_that_ended(void)
{
	long pid = CHILD(rt_exit(0));

	CHECK_EQ(rt_wait(pid), 0);
	return pid;
}

/* Who makes it twice from what a dead one left has not what that one wrote. */
TEST(claim_after_death_is_zero, 20)
{
	char page[4096];
	struct store *s = (struct store *)(void *)page;
	enum ash_attach why;

	begin();
	memset(page, 0x77, sizeof page);
	s->magic = CLAIM_MAKING;
	s->claim = (uint64_t)one_that_ended();
	s->world = world_now();
	for (long at = 0; at < 24 << 20; at += 4096)
		CHECK_EQ(arch_pwrite64(file, page, sizeof page, at), sizeof page);
	CHECK(ash_heap_attach_file(file, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_UNFINISHED);
	by_open = false;
	CHECK_EQ(make_beside(), MADE);
	heap_is_good();
	/* So is one of another namespace, which cannot be judged here, until a process calls it over. */
	begin();
	s->world ^= 1;
	CHECK_EQ(arch_pwrite64(file, page, sizeof page, 0), sizeof page);
	CHECK_EQ(make_beside(), NOTHING);
	CHECK(ash_heap_adopt_file(file));
	CHECK_EQ(make_beside(), MADE);
	heap_is_good();
	/* A live one's is left alone. */
	begin();
	s->world ^= 1;
	s->claim = life_of_thread();
	CHECK_EQ(arch_pwrite64(file, page, sizeof page, 0), sizeof page);
	CHECK_EQ(make_beside(), NOTHING);
	by_open = true;
	CHECK_EQ(make_beside(), UNFINISHED);
	CHECK_EQ(arch_lseek(file, 0, SEEK_END), sizeof page);
}

/*
 * A maker that is seen at work, gets done, and dies before he is asked for: what he
 * made is a heap, and no process begins again.
 */
static uint64_t maker;
static unsigned asked, gets_done_at;

static void gets_done(uint64_t life)
{
	uint64_t magic = STORE_MAGIC;

	if (life == maker && ++asked == gets_done_at)
		CHECK_EQ(arch_pwrite64(file, &magic, sizeof magic, 0), sizeof magic);
}

/* A dead maker's file, and what happens when its life is asked for the first time, the second, ... */
static void beside_a_dead_maker(void (*meanwhile)(uint64_t life))
{
	uint64_t head[3] = {CLAIM_MAKING, STORE_FORMAT, 0};

	maker = head[2] = (uint64_t)one_that_ended();
	by_open = false;
	asked_for_life = meanwhile;
	for (gets_done_at = 1;; gets_done_at++) {
		enum outcome one;

		begin();
		CHECK_EQ(arch_pwrite64(file, head, sizeof head, 0), sizeof head);
		asked = 0;
		one = make_one();
		if (asked < gets_done_at) {
			CHECK_EQ(one, MADE); /* nothing happened */
			break;
		}
		CHECK_EQ(one, NOTHING);
	}
	CHECK(gets_done_at > 2);
}

TEST_CALL(claim_done_before_death, 20, beside_a_dead_maker(gets_done));

/*
 * Another maker takes the dead one's place at the moment when its life is asked for: the claim is
 * taken by a compare-and-swap, and one of the two makes the heap.
 */
static uint64_t rival;

static void is_taken_by_rival(uint64_t life)
{
	if (life == maker && ++asked == gets_done_at)
		CHECK_EQ(arch_pwrite64(file, &rival, sizeof rival, offsetof(struct store, claim)),
			 sizeof rival);
}

TEST(claim_taken_by_another_meanwhile, 20)
{
	rival = life_of_thread();
	beside_a_dead_maker(is_taken_by_rival);
}

/* Each call in turn fails: NULL, and the file can be used as if nothing had been. */
static void make_with_failure(void)
{
	enum outcome one;

	failing = by_open ? EIO : ENOSPC;
	stopped = nothing;
	one = make_one();
	stopped = NULL;
	if (one != MADE) {
		CHECK(arch_lseek(file, 0, SEEK_END) <= (long)PAGE_MOST);
		one = make_one();
	}
	CHECK_EQ(one, MADE);
}

TEST(claim_calls_fail, 60)
{
	by_open = false;
	rt_print("     %zu calls\n", at_each_call(make_with_failure));
	by_open = true;
	rt_print("     %zu calls\n", at_each_call(make_with_failure));
}

TEST(claim_without_fallocate, 60)
{
	fallocate_fails = EOPNOTSUPP;
	between(true);
	deaths();
}

static size_t others_stop;

/* The other one begins there, and dies at a call of its own. */
static void other_dies(void)
{
	long end = rt_wait(CHILD(stopped = dies; calls = 0; stop_at = others_stop; rt_exit((int)make_one())));

	/* It makes fewer calls if the heap is there, or is being made, or the file has grown. */
	CHECK(end == 50 || end == MADE || end == ATTACHED || end == UNFINISHED);
	other = (enum outcome)end;
}

static void one_makes_all_the_same(void)
{
	enum outcome one;

	stopped = other_dies;
	one = make_one();
	/* The other one may have made it before it died. */
	CHECK(one == ATTACHED || (one == MADE && other != MADE));
}

/* What a maker has left by the time it died is no reason to refuse the file to another one. */
TEST(claim_beside_deaths, 60)
{
	size_t count = calls_of_one();

	by_open = true;
	for (others_stop = 1; others_stop <= count; others_stop += rt_under_qemu() ? 11 : 1)
		(void)at_each_call(one_makes_all_the_same);
}

/* All at once, for chance to find what the others do not name: they get one heap. */
TEST(claim_race, 60)
{
	enum { MAKERS = 3 };
	struct race {
		_Atomic unsigned ready;
		ash_heap *heap[MAKERS];
	} *race = rt_map_shared(sizeof *race);
	unsigned rounds = rt_under_qemu() ? 10 : 60, round, i;

	by_open = true;
	for (round = 0; round < rounds; round++) {
		ash_heap *one = NULL;
		long pid[MAKERS];

		begin();
		*race = (struct race){0};
		for (i = 0; i < MAKERS; i++) {
			pid[i] = rt_fork();
			if (pid[i] == 0) {
				for (++race->ready; race->ready < MAKERS;)
					rt_yield();
				CHECK(make_one() != NOTHING);
				race->heap[i] = heap_made;
				rt_exit(0);
			}
		}
		for (i = 0; i < MAKERS; i++) {
			CHECK_EQ(rt_wait(pid[i]), 0);
			CHECK(one == NULL || race->heap[i] == NULL || one == race->heap[i]);
			one = race->heap[i] != NULL ? race->heap[i] : one;
		}
		CHECK(one != NULL);
		heap_has(1);
		arch_close(file);
	}
}

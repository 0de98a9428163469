/* SPDX-License-Identifier: MIT */
/* Where a large block may grow in place and where it may not: neighbours, alignment, borders. */
/* promises: ash_expand */
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "support/pattern.h"

enum { BLOCKS = 64 };

/* In programs of one thread blocks come from unowned slabs, which do not grow. */
static bool slabs_have_owners(void)
{
	(void)ash_alloc(1); /* stays: its unit is not the first of a chunk otherwise empty */
	return stats_now().owners > 0;
}

static size_t place(const void *p)
{
	return (uintptr_t)p % (2 * MIB);
}

/* A block that grows to less than it was asked for says so: it cannot, and is as it was. */
static void stays(char *p, size_t size)
{
	size_t before = ash_usable_size(p);

	CHECK_EQ(ash_expand(p, size), 0);
	CHECK_EQ(ash_usable_size(p), before);
	CHECK_EQ(ash_check(), 0);
}

static void grows(char *p, size_t size)
{
	size_t bytes = ash_expand(p, size);

	CHECK(bytes >= size);
	CHECK_EQ(bytes, ash_good_size(size));
	CHECK_EQ(ash_usable_size(p), bytes);
	CHECK_EQ(ash_check(), 0);
}

/* A block at the beginning of a chunk (0), or in its middle; those before it stay, because the chunk is full then. */
static char *take_at(size_t size, size_t wanted)
{
	for (unsigned i = 0; i < 2 * BLOCKS; i++) {
		char *p = ash_alloc(size);

		if (place(p) == wanted)
			return p;
	}
	CHECK(false);
	return NULL;
}

TEST(grow_against_a_neighbour, 10)
{
	char *p[BLOCKS];
	unsigned i, k, hemmed = 0;

	for (i = 0; i < BLOCKS; i++)
		fill(p[i] = ash_alloc(40 * KIB), 40 * KIB, i);
	for (i = 0; i < BLOCKS; i++)
		for (k = 0; k < BLOCKS; k++)
			if (p[k] == p[i] + 64 * KIB) {
				stays(p[i], 64 * KIB + 1);
				stays(p[i], MIB);
				stays(p[i], MIB + 1);
				hemmed++;
			}
	CHECK(hemmed >= BLOCKS / 2);
	for (i = 0; i < BLOCKS; i++) {
		holds(p[i], 40 * KIB, i);
		ash_release(p[i]);
	}
	CHECK_EQ(ash_check(), 0);
}

/* Three units before the chunk's last one, which is free: to five they would reach into the next chunk. */
TEST(grow_over_the_end_of_a_chunk, 10)
{
	char *p;

	if (!slabs_have_owners())
		return;
	p = take_at(90 * KIB, 2 * MIB - 128 * KIB);
	fill(p, 90 * KIB, 7);
	stays(p, 150 * KIB);
	stays(p, 130 * KIB);
	grows(p, 128 * KIB);
	holds(p, 90 * KIB, 7);
	ash_release(p);
	CHECK_EQ(ash_check(), 0);
}

/* Blocks of a power of two are aligned to it: aligned blocks of this size are taken from them. */
TEST(grow_to_a_power_of_two, 10)
{
	size_t odd = 0, even = 0;
	char *unit, *p, *q;

	if (!slabs_have_owners())
		return;
	for (size_t size = 64 * KIB; size <= 512 * KIB; size *= 2)
		for (unsigned units = 2; units < 64; units++) {
			(void)ash_trim(0);
			/* So that p begins at each unit in turn. */
			unit = ash_alloc(units * 32 * KIB <= MIB ? units * 32 * KIB : MIB);
			p = ash_alloc(33 * KIB);
			if ((uintptr_t)p % size != 0) {
				stays(p, size);
				odd++;
			} else if (place(p) + size <= 2 * MIB && ash_expand(p, size) != 0) {
				CHECK_EQ(ash_usable_size(p), size);
				even++;
			}
			ash_release(p);
			q = ash_aligned_alloc(size, size);
			CHECK_EQ((uintptr_t)q % size, 0);
			ash_release(q);
			ash_release(unit);
			CHECK_EQ(ash_check(), 0);
		}
	CHECK(odd >= 8 && even >= 8);
}

/* A block alone in its chunk may have all of it, and no more. */
TEST(grow_to_the_whole_chunk, 10)
{
	static const size_t sizes[] = {MIB + 1, MIB + MIB / 2, 2 * MIB - 1, 2 * MIB};
	char *p;

	if (!slabs_have_owners())
		return;
	for (unsigned i = 0; i < 4; i++) {
		p = take_at(MIB, 0);
		fill(p, MIB, i);
		stays(p, 2 * MIB + 1);
		grows(p, sizes[i]);
		holds(p, MIB, i);
		fill(p, ash_usable_size(p), 5);
		ash_release(p);
		CHECK_EQ(ash_check(), 0);
	}
}

/*
 * A handler releases and allocates blocks of the class before and of the one after, at each step
 * in turn: lists change and units of the chunk are claimed.
 */
static char *old[2], *new[2], *growing;
static const size_t sizes[2] = {40 * KIB, 100 * KIB};

static void exchange(void)
{
	for (unsigned i = 0; i < 2; i++) {
		new[i] = ash_alloc(sizes[i]);
		fill(new[i], 64, i);
		ash_release(old[i]);
		old[i] = new[i];
	}
}

static bool grew;

DOES(do_grow, grew |= ash_expand(growing, sizes[1]) != 0);

TEST(grow_beside_a_handler, 30)
{
	bool more = true;
	size_t k;

	if (!slabs_have_owners())
		return;
	step_begin(exchange);
	for (k = rt_test_seed() % 3; more; k += rt_in_full() ? 1 : rt_under_qemu() ? 7 : 3) {
		(void)ash_trim(0); /* no spares: their units would be in the way */
		for (unsigned i = 0; i < 2; i++)
			fill(old[i] = ash_alloc(sizes[i]), 64, i);
		growing = ash_alloc(sizes[0]);
		fill(growing, 64, 9);
		more = with_act_at(k, do_grow);
		CHECK_EQ(ash_check(), 0);
		holds(growing, 64, 9);
		for (unsigned i = 0; i < 2; i++) {
			holds(old[i], 64, i);
			ash_release(old[i]);
		}
		ash_release(growing);
	}
	CHECK(grew);
	CHECK_EQ(ash_check(), 0);
}

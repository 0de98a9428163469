/* SPDX-License-Identifier: MIT */
/*
 * Loops around a compare-and-swap that fails: at each instruction of the call a handler
 * changes another part of the word.  The call must still do all of its work, once.
 */
#include "backend/map.h"
#include "backend/region.h"
#include "base/bits.h"
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "thread/seat.h"

static uint64_t words[3];
static bool answer;

DOES(claim, answer = bits_claim(words, 40, 100));

/* Changes bits of the words that the call does not claim. */
static void change_beside(void)
{
	words[0] ^= 1;
	words[1] ^= 0; /* all of it is claimed */
	words[2] ^= (uint64_t)1 << 20;
}

TEST(inner_swaps_bits_claim, 10)
{
	bool more = true;

	step_begin(change_beside);
	for (size_t k = 0; more; k++) {
		uint64_t first = bits_run(3, 61), last = bits_run(0, 30);

		words[0] = first;
		words[1] = ~(uint64_t)0;
		words[2] = last;
		more = with_act_at(k, claim);
		CHECK(answer);
		CHECK_EQ(words[0], bits_run(3, 37) ^ more);
		CHECK_EQ(words[1], 0);
		CHECK_EQ(words[2], bits_run(12, 18) ^ (uint64_t)more << 20);
	}
}

/* A handler takes one of the bits: the call claims all bits or none. */
DOES(take_one, fetch_and_acq_rel(&words[2], ~(uint64_t)1));

TEST(inner_swaps_bits_claim_fails, 10)
{
	bool more = true;
	size_t failed = 0;

	step_begin(take_one);
	for (size_t k = 0; more; k++) {
		words[0] = bits_run(3, 61);
		words[1] = ~(uint64_t)0;
		words[2] = bits_run(0, 30);
		more = with_act_at(k, claim);
		failed += !answer;
		CHECK_EQ(words[0], answer ? bits_run(3, 37) : bits_run(3, 61));
		CHECK_EQ(words[1], answer ? 0 : ~(uint64_t)0);
		CHECK(answer ? words[2] == bits_run(12, 18) : words[2] == bits_run(1, 29));
	}
	CHECK(failed > 0);
}

static struct units got;
static struct chunk *from;

DOES(claim_units, got = units_claim(&heap_default, 4, false, false));
DOES(give_units, units_give(&heap_default, (struct units){from, 60, 1, false}));

TEST(inner_swaps_units_claim, 20)
{
	bool more = true;
	struct units all = units_claim(&heap_default, CHUNK_UNITS, true, false);

	from = NOT_NULL(all.chunk);
	all.clean = false; /* they count as written */
	step_begin(give_units);
	for (size_t k = 0; more; k++) {
		all.first = 8;
		all.count = 8;
		units_give(&heap_default, all);
		more = with_act_at(k, claim_units);
		CHECK(got.chunk == from && got.first == 8 && got.count == 4);
		CHECK_EQ(from->units, bits_run(12, 4) | (uint64_t)more << 60);
		CHECK_EQ(heap_default.dirty, 4 + (size_t)more);
		fetch_and_acq_rel(&from->units, 0);
		heap_default.dirty = 0;
	}
}

/* ---- the heap's sum of address space, its lists ---- */

/*
 * All units are given at once, so that the chunk would go back, and a handler claims one of them: by a swap, or as
 * any thread does, where the hint is for one unit, as one was free before.
 */
static struct units whole;
static bool taken_back;

DOES(give_all, units_give(&heap_default, whole));

static void take_a_unit(void)
{
	uint64_t word = load_relaxed(&from->units);

	taken_back = word != 0 && cas_acquire(&from->units, &word, bits_without_lowest(word));
}

static void claim_a_unit(void)
{
	got = units_claim(&heap_default, 1, false, false);
	taken_back = got.chunk != NULL;
	CHECK(!taken_back || got.chunk == from);
}

static void chunk_goes_back(void (*acting)(void), uint8_t hint)
{
	size_t taken = 0, went = 0;
	bool more = true;

	CHECK(ash_alloc(100) != NULL);
	step_begin(acting);
	for (size_t k = 0; more; k++) {
		whole = units_claim(&heap_default, CHUNK_UNITS, true, false);
		from = whole.chunk;
		CHECK(from != NULL && from->units == 0);
		while (hint != 0 && units_claim(&heap_default, 1, false, false).chunk != NULL)
			; /* elsewhere */
		taken_back = false;
		chunk_hint(from, from->units, ROOM_LONGEST); /* as a thread that found no unit there leaves it */
		region_room(from->region)[from->index] = hint;
		if (hint != 0)
			*region_part(from->region, from->index) = hint;
		more = with_act_at(k, give_all);
		/* Either a unit is in use and the others are found, or the chunk is free. */
		CHECK_EQ(taken_back, chunk_is(from, CHUNK_SLABS));
		if (taken_back) {
			CHECK(from->units != 0 && !bits_all(from->region->free, from->index, 1));
			CHECK(region_room(from->region)[from->index] >= bits_longest(from->units));
			chunk_put(&heap_default, from, ~from->units);
			CHECK(chunk_is(from, CHUNK_FREE));
		}
		taken += taken_back;
		went += !taken_back;
		CHECK_EQ(ash_check(), 0);
	}
	CHECK(taken > 0 && went > 0);
}

TEST_CALL(inner_swaps_chunk_goes_back, 20, chunk_goes_back(take_a_unit, 0));
TEST_CALL(units_claimed_while_a_chunk_goes, 30, chunk_goes_back(claim_a_unit, 1));

/* Two calls make the same leaf of the map: the one that is not used is unmapped. */
static struct region far;

DOES(enter_map, answer = map_enter(&far));

TEST(inner_swaps_leaf_of_the_map, 20)
{
	bool more = true;

	CHECK(ash_alloc(100) != NULL); /* the first leaf is not mapped */
	far.chunks = 1;
	far.records = (void *)&words;
	step_begin(enter_map);
	for (size_t k = 0; more; k++) {
		size_t space = rt_address_space();

		far.base = (char *)((uintptr_t)1 << 45) + k * (MAP_SIZE << CHUNK_SHIFT);
		more = with_act_at(k, enter_map);
		CHECK(answer && map_guess(far.base) != NULL);
		if (!rt_under_qemu()) /* there the figure is the emulator's */
			CHECK_EQ(rt_address_space(), space + sizeof(struct map_leaf));
		map_leave(&far, 0, far.chunks);
		CHECK(map_guess(far.base) == NULL);
	}
}

static char *span;

DOES(large, span = ash_alloc(40 * MIB));

static bool past;

static void reserve(void)
{
	past = heap_default.reserved != 0;
	fetch_add_relaxed(&heap_default.reserved, 3);
}

/* Whether the call had written the sum before its k-th instruction, or ended. */
static bool written_by(size_t k)
{
	past = true;
	if (with_act_at(k, large))
		fetch_add_relaxed(&heap_default.reserved, (uint64_t)0 - 3);
	CHECK_EQ(stats_now().reserved, heap_default.reserved * CHUNK_SIZE);
	ash_release(span);
	(void)ash_trim(0);
	CHECK_EQ(heap_default.reserved, 0);
	return past;
}

/* At each of the last instructions before the sum is written: hundreds precede these, and thousands follow. */
TEST(inner_swaps_reserved, 20)
{
	enum { NEAR = 64 };
	size_t before = 0, k = NEAR, middle;

	step_begin(reserve);
	for (; !written_by(k); k *= 2)
		before = k;
	while (k - before > NEAR) {
		middle = (before + k) / 2;
		if (written_by(middle))
			k = middle;
		else
			before = middle;
	}
	while (!written_by(before))
		before++;
	rt_print("     written before boundary %zu\n", before);
	CHECK(before > 0 && before <= k);
}

static struct owner one, two;

DOES(enter, owner_publish(&heap_default, &one, OWNER_VACANT));
DOES(enter_another, owner_publish(&heap_default, &two, OWNER_VACANT));

TEST(inner_swaps_owner_enter, 10)
{
	bool more = true;

	step_begin(enter_another);
	for (size_t k = 0; more; k++) {
		heap_default.owners = NULL;
		more = with_act_at(k, enter);
		if (!more)
			CHECK(heap_default.owners == &one && one.next == NULL);
		else if (heap_default.owners == &one)
			CHECK(one.next == &two && two.next == NULL);
		else
			CHECK(heap_default.owners == &two && two.next == &one && one.next == NULL);
	}
	heap_default.owners = NULL;
}

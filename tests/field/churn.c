/* SPDX-License-Identifier: MIT */
/*
 * A heap of 1 MiB under churn, blocks of 8 to 207 bytes and some to 4007: what a turn costs, and
 * what is refused.
 */
#include "field/cost.h"

enum { SLOTS = 4000 };
static uint64_t churn_state;

static size_t churn_next(void)
{
	churn_state ^= churn_state << 13;
	churn_state ^= churn_state >> 7;
	churn_state ^= churn_state << 17;
	return churn_state;
}

/* Up to so many of its bytes in use: refusals of 200 000 turns; *mean: instructions of a turn's calls. */
static size_t churn(size_t fill_percent, size_t *mean)
{
	static _Alignas(64) char memory[MIB];
	static void *slot[SLOTS];
	static size_t size[SLOTS];
	size_t turn, live = 0, refused = 0, most = MIB / 100 * fill_percent, sum = 0, counted = 0;

	heap = NOT_NULL(ash_heap_create_in(memory, sizeof memory));
	memset(slot, 0, sizeof slot);
	churn_state = 5;
	for (turn = 0; turn < 200000; turn++) {
		size_t k = churn_next() % SLOTS, low = churn_next();
		bool counts = turn > 100000 && turn % 997 == 0;

		counted += counts;
		if (slot[k] != NULL) {
			block = slot[k];
			sum += counts ? instructions(call_release) : 0;
			if (!counts)
				call_release();
			live -= size[k];
			slot[k] = NULL;
		}
		size_of_call = 8 + low % (churn_next() % 10 != 0 ? 200 : 4000);
		if (live + size_of_call > most)
			continue;
		sum += counts ? instructions(call_alloc) : 0;
		if (!counts)
			call_alloc();
		slot[k] = block;
		size[k] = size_of_call;
		live += block != NULL ? size_of_call : 0;
		refused += block == NULL;
	}
	*mean = sum / counted;
	CHECK_EQ(ash_heap_check(heap), 0);
	return refused;
}

/* Two-level segregated fit refuses 193 of these at 80 %; Ashlar before the summary 1267. */
TEST(field_worst_cases_of_churn, 60)
{
	static const struct {
		size_t fill, refusals, instructions;
	} rows[] = {{50, 0, 800}, {80, 20, 900}, {85, 400, 900}, {90, 4800, 950}};
	size_t i, refused, mean;

	step_begin(never);
	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		refused = churn(rows[i].fill, &mean);
		rt_print("     %zu %%: %zu refused of 200000, %zu instructions a turn\n", rows[i].fill, refused, mean);
		CHECK(refused <= rows[i].refusals);
		CHECK(mean <= rows[i].instructions);
	}
}

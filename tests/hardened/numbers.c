/* SPDX-License-Identifier: MIT */
/*
 * promises: the numbers of a hardened product are those of SplitMix64, drawn in the first call, others in each process
 * also where the kernel gives none; large blocks are somewhere in a window that is elsewhere in each process; some slabs
 * have no access.
 */
#include "ashlar_malloc.h"
#include "chance.h"
#include "pages.h"
#include "program/filter.h"
#include "program/smaps.h"
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "support/malloc_names.h"
#include "support/resident.h"

/* As published for the state 0. */
TEST(hardened_generator_is_splitmix64, 10)
{
	static const uint64_t first[] = {UINT64_C(0xe220a8397b1dcdaf), UINT64_C(0x6e789e6aa1b965f4),
					 UINT64_C(0x06c45d188009454f)};
	uint64_t state = 0;

	for (unsigned i = 0; i < sizeof first / sizeof *first; i++)
		CHECK_EQ(chance_next(&state), first[i]);
}

enum { MPROTECT = 10, GETRANDOM = 318 }; /* of x86_64 */

enum { NO_FILTER = 7 };

/* In a child, whose filter answers this call so, while others are as they were. */
static void answer_call(uint32_t call, uint32_t answer)
{
	if (!filter_calls(call, answer, FILTER_ALLOW))
		rt_exit(NO_FILTER);
}

/* Runs such a child, which passes, and has what it told. */
static void child_passes(void (*body)(void *), void *argument, void *told, size_t size)
{
	int status = rt_run_child(body, argument, told, size);

	if (status == NO_FILTER)
		rt_skip("no filter of system calls here");
	CHECK_EQ(status, 0);
}

static void draws_no_more(UNUSED void *argument)
{
	free(NOT_NULL(malloc(100)));
	answer_call(GETRANDOM, FILTER_KILL);
	for (size_t size = 1; size < 8000000; size *= 3)
		for (unsigned i = 0; i < 50; i++)
			free(NOT_NULL(malloc(size)));
}

TEST(hardened_numbers_are_drawn_once, 10)
{
	char text[200];

	child_passes(draws_no_more, NULL, text, sizeof text);
}

#define CHILDREN 16
#define WINDOW	 35 /* bits */

static bool refused;

/* The address of a large block, and which slots small ones get. */
static __attribute__((noinline)) void tell_places(uintptr_t depth)
{
	volatile char deeper[1000];
	uintptr_t told[2] = {0, 0};

	deeper[depth] = 1;
	if (depth > 0) {
		tell_places(depth - 1);
		deeper[depth] = 2; /* no tail call */
		return;
	}
	told[0] = (uintptr_t)NOT_NULL(malloc(3000000));
	for (unsigned i = 0; i < 60; i++)
		told[1] = told[1] << 1 | ((uintptr_t)NOT_NULL(malloc(48)) >> 6 & 1);
	arch_write(2, told, sizeof told);
}

static void tell_first(void *depth)
{
	if (refused)
		answer_call(GETRANDOM, FILTER_REFUSE);
	tell_places((uintptr_t)depth);
}

static unsigned different(const uintptr_t *at, unsigned n)
{
	unsigned others = 0, before;

	for (unsigned i = 0; i < n; i++) {
		for (before = 0; before < i && at[before] != at[i]; before++)
			;
		others += before == i;
	}
	return others;
}

/* Each is the first to allocate, as this process did not.  Two of the 2048 windows of x86_64 are seldom the same. */
static void first_places_differ(void)
{
	uintptr_t windows[CHILDREN], places[CHILDREN], slots[CHILDREN], told[3];

	for (unsigned i = 0; i < CHILDREN; i++) {
		child_passes(tell_first, (void *)(uintptr_t)i, told, sizeof told); /* NOLINT: no address */
		windows[i] = told[0] >> WINDOW;
		places[i] = told[0] & (((uintptr_t)1 << WINDOW) - 1);
		slots[i] = told[1];
	}
	rt_print("     %u windows, %u places in them, %u orders of slots\n", different(windows, CHILDREN),
		 different(places, CHILDREN), different(slots, CHILDREN));
	CHECK(different(windows, CHILDREN) >= 12 && different(places, CHILDREN) >= 12 && different(slots, CHILDREN) >= 12);
}

TEST_CALL(hardened_first_places_differ, 20, first_places_differ());

/* Addresses are what remains: of children the stack's depth differs. */
TEST(hardened_first_places_differ_unaided, 20)
{
	refused = true;
	first_places_differ();
}

/* ---- fences ---- */

/*
 * The places of blocks that went, or became shorter, are free again, and so are those before one that was taken: more
 * than the window has, one after the other, are all in it.  In nearly half of the runs of 33 lies a block that stays.
 */
TEST(hardened_places_come_back, 60)
{
	enum { ROUNDS = 600, LONG = 32 * PAGE_HUGE }; /* 33 places each, of 16384 */
	uintptr_t first = (uintptr_t)NOT_NULL(malloc(LONG - 8)) >> WINDOW;

	for (unsigned i = 0; i < 300; i++)
		(void)NOT_NULL(malloc(200000)); /* a place each */
	for (unsigned i = 0; i < 2 * ROUNDS; i++) {
		char *p = NOT_NULL(malloc(LONG - 8));

		CHECK_EQ((uintptr_t)p >> WINDOW, first);
		if (i % 2 == 0)
			CHECK(realloc(p, 2 * PAGE_HUGE - 8) == p);
		free(p);
	}
}

/* Beside one in 16 slabs lies one for blocks of size 0, without access; also after all of them have gone. */
TEST(hardened_slabs_have_fences, 20)
{
	static void *p[4000];
	struct ash_class none, row;

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 4000; i++)
			p[i] = NOT_NULL(malloc(14000));
		CHECK(ash_stats_class(0, &none));
		for (unsigned i = 1; ash_stats_class(i, &row) && row.slabs == 0; i++)
			;
		rt_print("     %zu fences, %zu slabs\n", none.slabs, row.slabs);
		CHECK(none.slabs > row.slabs / 40 && none.slabs < row.slabs / 8 && none.taken == 0);
		CHECK_EQ(ash_check(), 0);
		for (unsigned i = 0; i < 4000; i++)
			free(p[i]);
		(void)ash_trim(0);
	}
}

static size_t fences(void)
{
	struct ash_class none;

	CHECK(ash_stats_class(0, &none));
	return none.slabs;
}

/* Slabs of blocks of this size come and go. */
static void slabs_come_and_go(void **p, size_t n, size_t size, unsigned rounds)
{
	for (; rounds > 0; rounds--) {
		for (size_t i = 0; i < n; i++)
			p[i] = NOT_NULL(malloc(size));
		for (size_t i = n; i-- > 0;)
			free(p[i]);
	}
}

/* They stay a part of what is in use, and do not become all that is free. */
TEST(hardened_fences_stay_few, 30)
{
	static void *p[10000];

	slabs_come_and_go(p, 10000, 64, 100);
	rt_print("     %zu fences beside 20 to 40 slabs\n", fences());
	CHECK(fences() < 8);
	CHECK_EQ(ash_check(), 0);
}

/* Four million blocks, until they are as few as the smaller heap has. */
TEST(hardened_fences_become_few_again, 30)
{
	static void *p[100000];
	size_t many;

	if (rt_under_qemu())
		rt_skip("the places are drawn alike on each CPU, and four million blocks take a minute under QEMU");
	slabs_come_and_go(p, 20000, 14000, 1);
	many = fences();
	slabs_come_and_go(p, 100000, 64, 40);
	rt_print("     %zu fences of a larger heap, %zu of what is left\n", many, fences());
	CHECK(many > 200 && fences() > 60 && fences() < 140);
	CHECK_EQ(ash_check(), 0);
}

/* What is resident of mappings without access, in KiB. */
static uint64_t resident_without_access(void)
{
	static char text[1 << 20];
	const char *at = text, *rss;
	uint64_t sum = 0;

	CHECK(rt_read_file("/proc/self/smaps", text, sizeof(text)) > 0);
	while ((at = rt_strstr(at, " ---p ")) != NULL && (rss = rt_strstr(at, "\nRss:")) != NULL) {
		for (at = rss + 5; *at == ' ';)
			at++;
		sum += smaps_number(&at, 10);
	}
	return sum;
}

/* Beyond the first MiB they have no memory, although most are made where slabs were. */
TEST(hardened_fences_have_no_memory, 30)
{
	static void *p[100000];

	if (!figures())
		rt_skip("resident memory is the emulator's");
	for (unsigned i = 0; i < 3500; i++)
		memset(NOT_NULL(malloc(40000)), 1, 40000); /* has no fences beside it */
	slabs_come_and_go(p, 100000, 64, 30);
	rt_print("     %zu fences, resident %llu KiB\n", fences(), (unsigned long long)resident_without_access());
	CHECK(fences() > 100 && resident_without_access() <= 1100);
}

static void takes_none(UNUSED void *argument)
{
	static void *p[20000];
	struct ash_statistics before, after;

	answer_call(MPROTECT, FILTER_REFUSE);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 20000; i++)
			p[i] = NOT_NULL(malloc(0));
		ash_stats(&after);
		before = round == 0 ? after : before;
		CHECK(after.slabs <= before.slabs + 1);
		for (unsigned i = 0; i < 20000; i++)
			free(p[i]);
		CHECK_EQ(ash_trim(0) % PAGE_LEAST, 0); /* of these slabs, which stay, nothing */
	}
	CHECK_EQ(ash_check(), 0);
}

/* Where access cannot be given back, slabs of such blocks stay, and are used again. */
TEST(hardened_blocks_of_size_0_where_access_stays, 20)
{
	char text[200];

	child_passes(takes_none, NULL, text, sizeof text);
}

static void pass_none(void)
{
	free(NOT_NULL(malloc(0)));
}

static void pass_some(void)
{
	free(NOT_NULL(malloc(24)));
}

/* A handler that interrupts a call takes a slot that no thread owns; what its slab leaves has access again. */
TEST(hardened_blocks_of_size_0_in_a_handler, 30)
{
	(void)NOT_NULL(malloc(24)); /* the chunk stays */
	step_begin(pass_none);
	act_again = 1;
	CHECK(with_act_at(0, pass_some));
	(void)ash_trim(0);
	for (unsigned i = 0; i < 3000; i++)
		memset(NOT_NULL(malloc(14000)), 1, 14000);
	CHECK_EQ(ash_check(), 0);
}

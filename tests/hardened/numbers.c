/* SPDX-License-Identifier: MIT */
/*
 * promises: the numbers of a hardened product are those of SplitMix64, drawn in the first call, others in each process
 * also where the kernel gives none; large blocks are somewhere in a window that is elsewhere in each process.
 */
#include "chance.h"
#include "support/blocks.h"
#include "syscall.h"

void *malloc(size_t size);
void free(void *p);

/* As published for the state 0. */
TEST(hardened_generator_is_splitmix64, 10)
{
	static const uint64_t first[] = {UINT64_C(0xe220a8397b1dcdaf), UINT64_C(0x6e789e6aa1b965f4),
					 UINT64_C(0x06c45d188009454f)};
	uint64_t state = 0;

	for (unsigned i = 0; i < sizeof first / sizeof *first; i++)
		CHECK_EQ(chance_next(&state), first[i]);
}

/* The filter as the kernel wants it (linux/filter.h, linux/seccomp.h). */
struct instruction {
	uint16_t code;
	uint8_t if_true, if_false;
	uint32_t k;
};
#define KILL_PROCESS 0x80000000u
#define REFUSE	     (0x00050000u | 38) /* ENOSYS */
#define ALLOW	     0x7fff0000u

/* False: no kernel here that knows filters. */
static bool answer_getrandom(uint32_t answer)
{
	enum { LOAD = 0x20, IF_EQUAL = 0x15, RETURN = 0x06, PR_SET_SECCOMP = 22, PR_SET_NO_NEW_PRIVS = 38, FILTER = 2 };
	enum { GETRANDOM = 318 }; /* of x86_64; others have no call of this number */
	const struct instruction filter[] = {
		{LOAD, 0, 0, 0}, /* the number of the call */
		{IF_EQUAL, 0, 1, GETRANDOM},
		{RETURN, 0, 0, answer},
		{RETURN, 0, 0, ALLOW},
	};
	const struct {
		uint16_t count;
		const struct instruction *instructions;
	} program = {4, filter};

	return arch_prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       arch_prctl(PR_SET_SECCOMP, FILTER, (long)(uintptr_t)&program, 0, 0) == 0;
}

enum { NO_FILTER = 7 };

static void draws_no_more(UNUSED void *argument)
{
	free(NOT_NULL(malloc(100)));
	if (!answer_getrandom(KILL_PROCESS))
		rt_exit(NO_FILTER);
	for (size_t size = 1; size < 8000000; size *= 3)
		for (unsigned i = 0; i < 50; i++)
			free(NOT_NULL(malloc(size)));
}

TEST(hardened_numbers_are_drawn_once, 10)
{
	char text[200];
	int status = rt_run_child(draws_no_more, NULL, text, sizeof text);

	if (status == NO_FILTER)
		rt_skip("no filter of system calls here");
	CHECK_EQ(status, 0);
}

#define CHILDREN 16
#define WINDOW	 35 /* bits */

static bool refused;

static __attribute__((noinline)) void tell_place(uintptr_t depth)
{
	volatile char deeper[1000];
	char text[32];

	deeper[depth] = 1;
	if (depth > 0) {
		tell_place(depth - 1);
		deeper[depth] = 2; /* no tail call */
		return;
	}
	rt_format(text, sizeof text, "%lx", (unsigned long)NOT_NULL(malloc(3000000)));
	arch_write(2, text, rt_strlen(text));
}

static void tell_first(void *depth)
{
	if (refused && !answer_getrandom(REFUSE))
		rt_exit(NO_FILTER);
	tell_place((uintptr_t)depth);
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
	uintptr_t windows[CHILDREN], places[CHILDREN], at;
	char text[200];
	int status;

	for (unsigned i = 0; i < CHILDREN; i++) {
		status = rt_run_child(tell_first, (void *)(uintptr_t)i, text, sizeof text); /* NOLINT: no address */
		if (status == NO_FILTER)
			rt_skip("no filter of system calls here");
		CHECK_EQ(status, 0);
		at = 0;
		for (const char *c = text; *c != 0; c++)
			at = at << 4 | (uintptr_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
		windows[i] = at >> WINDOW;
		places[i] = at & (((uintptr_t)1 << WINDOW) - 1);
	}
	rt_print("     %u windows, %u places in them\n", different(windows, CHILDREN), different(places, CHILDREN));
	CHECK(different(windows, CHILDREN) >= 12 && different(places, CHILDREN) >= 12);
}

TEST(hardened_first_places_differ, 20)
{
	first_places_differ();
}

/* Addresses are what remains: of children the stack's depth differs. */
TEST(hardened_first_places_differ_unaided, 20)
{
	refused = true;
	first_places_differ();
}

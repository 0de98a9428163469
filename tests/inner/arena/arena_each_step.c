/* SPDX-License-Identifier: MIT */
/*
 * Heaps inside memory of the caller's, looked at after every instruction of
 * every path, interrupted there, and killed there.
 */
#include "arena/arena_call.h"
#include "heaps/instance.h"
#include "pages.h"
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "support/heap_in.h"
#include "syscall.h"

enum { SIGKILL = 9 };
enum { BYTES = 64 << 10, HELD = 40, SIZE = 5000 };

static char *memory; /* shared with children */
static struct arena *f;
static ash_heap *h;

/* Blocks that the call under test has nothing to do with. */
static struct {
	size_t first, n;
} held[HELD];
static size_t held_count;

static void hold(size_t size)
{
	char *p = ash_heap_alloc(h, size);

	CHECK(p != NULL && held_count < HELD);
	held[held_count].first = arena_index(f, p);
	held[held_count++].n = (size + GRANULE - 1) / GRANULE;
}

/* Every granule is free or of one run, held blocks are whole; the runs besides, at most `most`. */
static size_t strangers(size_t most)
{
	size_t at = 0, found = 0, others = 0;

	CHECK_EQ(arena_check(f), 0);
	while (at < f->granules) {
		uint64_t word = load_acquire(&f->words[at / ARENA_WORD]);
		unsigned bit = (unsigned)(at % ARENA_WORD);
		size_t n, i;

		if ((arena_free(word) >> bit) & 1) {
			at++;
			continue;
		}
		CHECK(((arena_further(word) >> bit) & 1) == 0); /* of no block */
		n = arena_length(f, at);
		for (i = 0; i < held_count && held[i].first != at; i++)
			;
		if (i < held_count) {
			CHECK_EQ(n, held[i].n);
			CHECK((arena_first(word) >> bit) & 1);
			found++;
		} else {
			others++;
		}
		at += n;
	}
	CHECK_EQ(found, held_count);
	CHECK(others <= most);
	return others;
}

/* ---- the calls ---- */

static void *block, *result;

DOES(call_small, result = ash_heap_alloc(h, 40));
DOES(call_long, result = ash_heap_alloc(h, SIZE));
DOES(call_aligned, result = ash_heap_aligned_alloc(h, 2048, SIZE));
DOES(call_too_long, result = ash_heap_alloc(h, BYTES - 5000));

static void call_release(void)
{
	ash_heap_release(h, block);
	result = NULL;
}

static void call_release_any(void)
{
	ash_release(block);
	result = NULL;
}

DOES(call_longer, result = ash_heap_resize(h, block, SIZE));
DOES(call_shorter, result = ash_heap_resize(h, block, 50));

static const struct path {
	const char *name;
	void (*call)(void);
	size_t before; /* size of the block that it works on; 0 without a block */
	bool walled;   /* something stands behind that block */
	size_t fewest; /* instructions */
	size_t runs;   /* that may be there meanwhile */
} paths[] = {
	{"alloc in a word", call_small, 0, false, 50, 1},
	{"alloc over words", call_long, 0, false, 300, 1},
	{"aligned", call_aligned, 0, false, 300, 1},
	{"full", call_too_long, 0, false, 300, 0},
	{"release in a word", call_release, 40, false, 50, 1},
	{"release over words", call_release, SIZE, true, 200, 1},
	{"release of any heap", call_release_any, SIZE, true, 200, 1},
	{"grow in place", call_longer, 100, false, 200, 1},
	{"grow by moving", call_longer, 100, true, 300, 2},
	{"grow through words, by moving", call_longer, 1000, true, 300, 2},
	{"shrink", call_shorter, SIZE, true, 200, 1},
};
enum { PATHS = sizeof paths / sizeof paths[0] };

static void prepare(const struct path *path)
{
	if (memory == NULL)
		memory = NOT_NULL(pages_reserve(BYTES, PAGE_SIZE, PAGES_SHARED));
	held_count = 0;
	h = NOT_NULL(ash_heap_create_in(memory, BYTES));
	f = arena_of(h);
	for (unsigned i = 0; i < 9; i++)
		hold(200 + 90 * i);
	block = path->before == 0 ? NULL : ash_heap_alloc(h, path->before);
	if (path->walled)
		hold(48);
}

/* The runs that the call left are whole, and gone after a release. */
static void conclude(const struct path *path)
{
	size_t left = strangers(1);

	CHECK_EQ(left, result != NULL);
	if (result != NULL) {
		CHECK(ash_heap_usable_size(h, result) >= 40);
		ash_heap_release(h, result);
	} else {
		CHECK(path->call == call_too_long || path->before != 0);
	}
	CHECK_EQ(strangers(0), 0);
}

/* ---- looked at ---- */

static const struct path *current;

DOES(act_look, (void)strangers(current->runs));

TEST(arena_is_whole_at_each_step, 60)
{
	step_begin(act_look);
	act_again = 1;
	for (current = paths; current < paths + PATHS; current++) {
		prepare(current);
		CHECK(with_act_at(0, current->call));
		CHECK(boundary >= current->fewest);
		rt_print("     %s: %zu steps\n", current->name, boundary);
		conclude(current);
	}
}

/* ---- interrupted: a handler takes the run that the call is about to take, and keeps it ---- */

static size_t kept_size;

static void act_take(void)
{
	void *p;

	(void)strangers(current->runs);
	hold(kept_size);
	p = ash_heap_alloc(h, 700);
	if (p != NULL)
		ash_heap_release(h, p);
	(void)strangers(current->runs);
}

TEST(arena_interrupted_at_each_step, 120)
{
	static const size_t sizes[] = {16, 600};
	struct rt_random random;
	size_t k, i;

	rt_seed(&random, rt_test_seed());
	step_begin(act_take);
	for (current = paths; current < paths + PATHS; current++)
		for (i = 0; i < 2; i++) {
			bool more = true;

			kept_size = sizes[i];
			for (k = i; more; k += 1 + rt_below(&random, rt_in_full() ? 5 + k / 3 : 11 + k / 2)) {
				prepare(current);
				more = with_act_at(k, current->call);
				conclude(current);
			}
		}
}

/* ---- killed: the others go on ---- */

DOES(act_die, rt_kill(arch_getpid(), SIGKILL));

TEST(arena_survives_death_at_each_step, 120)
{
	struct rt_random random;
	size_t k, deaths = 0, in_flight = 0;

	rt_seed(&random, rt_test_seed());
	step_begin(act_die);
	for (current = paths; current < paths + PATHS; current++) {
		bool more = true;

		for (k = 0; more; k += 1 + rt_below(&random, 5 + k / 2)) {
			size_t left;
			long pid;

			prepare(current);
			pid = rt_fork();
			if (pid == 0)
				rt_exit(with_act_at(k, current->call) ? 1 : 0);
			more = rt_wait(pid) == 1000 + SIGKILL;
			deaths += more;
			left = strangers(current->runs > 0 ? current->runs : 1);
			/* A run whose call died is told apart from blocks. */
			(void)ash_heap_walk(h, count_flight, &in_flight);
			/* Not one granule more is missing, and the rest is of use. */
			while (ash_heap_alloc(h, 16) != NULL)
				;
			CHECK(strangers(f->granules) >= left);
			CHECK_EQ(stats_of(h).dirty, 0);
		}
	}
	rt_print("     %zu deaths, %zu runs in flight\n", deaths, in_flight);
	CHECK(deaths > 100 && in_flight > 0 && in_flight < deaths);
}

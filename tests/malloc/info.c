/* SPDX-License-Identifier: MIT */
/* mallinfo2, mallinfo and mallopt, as glibc's callers read them. */
#include "support/blocks.h"
#include "support/handler_at_step.h"
#include "support/stack.h"

struct figures {
	size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
struct short_figures {
	int arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
struct figures mallinfo2(void);
struct short_figures mallinfo(void);
int mallopt(int parameter, int value);

static void adds_up(const struct figures *f)
{
	CHECK_EQ(f->arena, f->uordblks + f->fordblks);
	CHECK(f->keepcost <= f->fordblks && f->ordblks <= f->fordblks / 8);
}

TEST(info_large_blocks_are_mapped, 10)
{
	void *large[5], *small = ash_alloc(100);
	struct figures before = mallinfo2(), now;

	CHECK(before.hblks == 0 && before.hblkhd == 0 && before.uordblks == 112 && before.ordblks > 0);
	adds_up(&before);
	alloc_each(large, 5, 3000000);
	now = mallinfo2();
	CHECK(now.hblks == 5 && now.hblkhd == 5 * ash_usable_size(large[0]));
	CHECK_EQ(now.uordblks, before.uordblks);
	CHECK_EQ((size_t)mallinfo().hblks, now.hblks);
	CHECK_EQ((size_t)mallinfo().hblkhd, now.hblkhd);
	release_each(large, 5);
	now = mallinfo2();
	CHECK(now.hblks == 0 && now.hblkhd == 0);
	adds_up(&now);
	ash_release(small);
	now = mallinfo2();
	CHECK(now.uordblks == 0);
	adds_up(&now);
	large[0] = ash_alloc((size_t)3 << 30);
	CHECK(large[0] == NULL || mallinfo().hblkhd == INT32_MAX);
	ash_release(large[0]);
}

TEST(info_free_slots_count, 10)
{
	void *p[100];
	size_t before;

	alloc_each(p, 100, 100);
	before = mallinfo2().ordblks;
	for (unsigned i = 1; i < 100; i += 2)
		ash_release(p[i]);
	CHECK_EQ(mallinfo2().ordblks, before + 50);
}

/* Of each size one between two that stay. */
TEST(info_a_released_block_is_a_free_block, 10)
{
	static const size_t sizes[] = {1, 100, 5000, 20000, 33000, 100000, 1100000, 1100000};
	enum { KINDS = sizeof sizes / sizeof *sizes };
	void *p[3 * KINDS], *much = ash_alloc(40 << 20); /* a quarter of this number may stay free */
	size_t before;

	for (unsigned i = 0; i < 3 * KINDS; i++)
		p[i] = NOT_NULL(ash_alloc(sizes[i / 3]));
	for (unsigned i = 0; i < KINDS; i++) {
		before = mallinfo2().ordblks;
		ash_release(p[3 * i + 1]);
		CHECK_EQ(mallinfo2().ordblks, before + 1);
	}
	ash_release(much);
}

/* tests/check/settings.sh has the effect of M_TRIM_THRESHOLD (-1). */
TEST(info_mallopt_answers_as_glibc, 10)
{
	for (int parameter = -20; parameter <= 20; parameter++)
		if (parameter != -1)
			CHECK_EQ(mallopt(parameter, 1 << 20), parameter >= -8 && parameter <= 4 && parameter != 0);
	CHECK_EQ(mallopt(INT32_MAX, 0) + mallopt(INT32_MIN, 0), 0);
}

/* ---- the stack: a handler's, a small thread's ---- */

void malloc_stats(void);

DOES(ask_all, (void)mallinfo2());
DOES(ask_short, (void)mallinfo());
DOES(print_all, malloc_stats());

static void stack_is_small(UNUSED void *unused)
{
	size_t all, brief, print;

	ash_release(ash_alloc(100));
	all = stack_of(ask_all);
	brief = stack_of(ask_short);
	print = stack_of(print_all);
	rt_print("     %zu bytes for mallinfo2, %zu for mallinfo, %zu for malloc_stats\n", all, brief, print);
	CHECK(all <= 1024 && brief <= 1024 && print <= 3072);
}

TEST(info_stack, 10)
{
	char text[4096];

	CHECK_EQ(rt_run_child(stack_is_small, NULL, text, sizeof text), 0);
}

/* ---- the table on a signal ---- */

static void take_and_release(void)
{
	ash_release(ash_alloc(40000));
}

static void stats_at_each_step(UNUSED void *argument)
{
	bool more = true;
	size_t k;

	step_begin(malloc_stats);
	for (k = 0; more; k += 5) {
		more = with_act_at(k, take_and_release);
		CHECK_EQ(ash_check(), 0);
	}
	CHECK(k > 100);
}

TEST(info_stats_in_a_handler, 30)
{
	static const char blocks[] = "ashlar: blocks:             ";
	static char text[1 << 20];
	const char *at = text;
	size_t tables = 0;

	trap_need(); /* here: in the child a skip would be an answer */
	CHECK_EQ(rt_run_child(stats_at_each_step, NULL, text, sizeof text), 0);
	for (; (at = rt_strstr(at, blocks)) != NULL; tables++) {
		at += sizeof blocks - 1;
		CHECK((at[0] == '0' || at[0] == '1') && at[1] == '\n');
	}
	rt_print("     %zu tables\n", tables);
	CHECK(tables > 20);
}

/* ---- rows of threads ---- */

enum { SAYERS = 70 }; /* more than one walk counts (core/diagnostics/blocks_stats.c) */
static struct sayer {
	uintptr_t self;
	void *blocks[SAYERS];
} *sayers; /* the parent reads them, too */
static unsigned sayers_ready, sayers_done;

/* The k-th has k + 1 blocks; the first leaves when all have theirs. */
static void say_thread(void *context)
{
	struct sayer *s = context;
	size_t k = (size_t)(s - sayers);

	s->self = (uintptr_t)__builtin_thread_pointer();
	alloc_each(s->blocks, k + 1, 3000);
	__atomic_fetch_add(&sayers_ready, 1, __ATOMIC_RELEASE);
	while (k != 0 ? __atomic_load_n(&sayers_done, __ATOMIC_ACQUIRE) == 0
		      : __atomic_load_n(&sayers_ready, __ATOMIC_ACQUIRE) != SAYERS)
		rt_yield();
}

static void say_with_threads(UNUSED void *unused)
{
	struct rt_thread *threads[SAYERS];
	unsigned k;

	for (k = 0; k < SAYERS; k++)
		threads[k] = NOT_NULL(rt_thread_start(say_thread, &sayers[k]));
	rt_thread_join(threads[0]);
	ash_release(sayers[5].blocks[0]); /* another thread's */
	malloc_stats();
	__atomic_store_n(&sayers_done, 1, __ATOMIC_RELEASE);
	for (k = 1; k < SAYERS; k++)
		rt_thread_join(threads[k]);
}

TEST(info_stats_of_threads, 10)
{
	static char text[1 << 16];
	char row[96];
	unsigned k, blocks;

	sayers = NOT_NULL(rt_map_shared(SAYERS * sizeof *sayers));
	CHECK_EQ(rt_run_child(say_with_threads, NULL, text, sizeof text), 0);
	for (k = 1; k < SAYERS; k++) {
		blocks = k + 1 - (k == 5);
		rt_format(row, sizeof row, "ashlar: thread 0x%lx: %u blocks of %u bytes, in slabs of ",
			  (unsigned long)sayers[k].self, blocks, blocks * 3072);
		CHECK_EQ(rt_number_in(NOT_NULL(rt_strstr(NOT_NULL(rt_strstr(text, row)), "; released by others: "))), k == 5);
	}
	/* The blocks of the thread that left. */
	CHECK(rt_strstr(text, "ashlar: no thread: 1 blocks of 3072 bytes, in slabs of ") != NULL);
}

/* SPDX-License-Identifier: MIT */
/* mallinfo2, mallinfo and mallopt, as glibc's callers read them. */
#include "support/blocks.h"
#include "support/handler_at_step.h"

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

/* What M_TRIM_THRESHOLD (-1) does: tests/check/settings.sh. */
TEST(info_mallopt_says_what_it_does_not_do, 10)
{
	for (int parameter = -10; parameter <= 10; parameter++)
		if (parameter != -1)
			CHECK_EQ(mallopt(parameter, 1 << 20), 0);
}

/* ---- the table on a signal ---- */

void malloc_stats(void);

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
	static const char blocks[] = "ashlar: blocks:         ";
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

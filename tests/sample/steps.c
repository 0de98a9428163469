/* SPDX-License-Identifier: MIT */
/*
 * A handler that allocates and releases at an instruction of calls that take a sample, or release
 * one.  Each sample that was told of is told of again when it goes, and the heap is sound.
 */
/* promises: ash_sample_every */
#include "sample/sample.h"
#include "support/blocks.h"
#include "support/handler_at_step.h"

/* The samples that live. */
static void *live[16];

static void replace(void *old, void *new)
{
	for (unsigned i = 0; i < sizeof live / sizeof *live; i++) {
		void *expected = old;

		if (__atomic_compare_exchange_n(&live[i], &expected, new, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
	CHECK(old != NULL); /* no room */
}

static void taken(void *p, UNUSED size_t size)
{
	replace(NULL, p);
}

static void gone(void *p)
{
	replace(p, NULL);
}

static void call(void)
{
	void *p = ash_alloc(100), *q = ash_zalloc(3, 100);

	p = ash_resize(p, 3000);
	ash_release(q);
	q = ash_alloc(50000);
	ash_release(p);
	ash_release(q);
}

static void handle(void)
{
	void *p = ash_alloc(100), *q = ash_alloc(50000);

	p = ash_resize(p, 700);
	ash_release(q);
	ash_release(p);
}

TEST(sample_steps, 20)
{
	size_t stride = rt_in_full() ? 1 : 211, k;

	ash_sample_every(1);
	step_begin(handle);
	sample_also = taken;
	sample_also_gone = gone;
	for (k = 0; with_act_at(k, call); k += stride) {
		CHECK_EQ(stats_now().blocks, 0);
		CHECK_EQ(ash_check(), 0);
		for (unsigned i = 0; i < sizeof live / sizeof *live; i++)
			CHECK(live[i] == NULL);
	}
	CHECK(k > 500);
}

/* SPDX-License-Identifier: MIT */
/*
 * What is estimated from samples is near what was allocated, for each place in a program: where a
 * sample is taken does not depend on how the heap serves the call.
 */
/* promises: ash_sample_every */
#include "ashlar.h"
#include "rt.h"
#include "sample/sample.h"

enum { DISTANCE = 16 * 1024 };

/* e^-x, for x >= 0. */
static double exp_minus(double x)
{
	double sum = 1, term = 1;

	if (x > 1)
		return x > 700 ? 0 : exp_minus(x / 2) * exp_minus(x / 2);
	for (int i = 1; i < 20; i++)
		sum += term *= -x / i;
	return sum;
}

/* A place that allocates: its sums, and their estimates. */
struct place {
	double bytes, estimate, variance;
	size_t samples;
} places[12], *here;

static void sampled(UNUSED void *p, size_t size)
{
	double chance = 1 - exp_minus((double)size / (double)DISTANCE);

	here->samples++;
	here->estimate += (double)size / chance;
}

static void *at_place(unsigned place, size_t size)
{
	double bytes = (double)ash_good_size(size);

	here = &places[place];
	here->bytes += bytes;
	/* Of the estimate, which is bytes / chance with this chance, else 0. */
	here->variance += bytes * bytes * (1 / (1 - exp_minus(bytes / (double)DISTANCE)) - 1);
	return ash_alloc(size);
}

/* Within four standard deviations.  The random numbers are the same in each run: no chance is left. */
static void expect_near(unsigned first, unsigned last)
{
	for (unsigned i = first; i <= last; i++) {
		double off = places[i].estimate - places[i].bytes;

		if (places[i].samples < 20 || off * off > 16 * places[i].variance)
			rt_fail_values(__FILE__, __LINE__, "estimate of a place", (size_t)places[i].estimate,
				       (size_t)places[i].bytes);
	}
}

/* Places that take turns, some of whose blocks stay: each sees the same part of refills. */
TEST(estimate_of_places_that_take_turns, 20)
{
	static void *kept[100000];
	enum { ROUNDS = 30000 };

	sample_also = sampled;
	ash_sample_every(DISTANCE);
	for (unsigned i = 0; i < ROUNDS; i++) {
		void *p;

		kept[i] = at_place(0, 100);
		p = at_place(1, 100); /* each group of slots comes to its end here */
		ash_release(p);
		ash_release(at_place(2, 700));
		ash_release(at_place(3, 24));
	}
	expect_near(0, 3);
	for (unsigned i = 0; i < ROUNDS; i++)
		ash_release(kept[i]);
}

TEST(estimate_of_sizes, 20)
{
	static const size_t sizes[] = {8, 50, 1000, 1500, 9000, 32768, 40000, 100000, 600000, 1500000};
	struct rt_random r;
	static void *kept[64];

	rt_seed(&r, 5);
	sample_also = sampled;
	ash_sample_every(DISTANCE);
	for (unsigned i = 0; i < 60000; i++) {
		void **at = &kept[rt_below(&r, 64)];
		unsigned place = rt_below(&r, i % 16 == 0 ? 10 : 6) & 15;

		ash_release(*at);
		*at = at_place(place, sizes[place]);
	}
	for (unsigned i = 0; i < 200000; i++)
		ash_release(at_place(0, 8));
	expect_near(0, 9);
}

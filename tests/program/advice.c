/* SPDX-License-Identifier: MIT */
/*
 * Advice that lies, that is refused, and memory that is locked: whatever the
 * system does with "give these pages back", a zeroed block is zero and a live
 * one keeps its bytes.
 */
/* promises: ash_alloc, ash_trim */
#include "program/audit.h"
#include "program/faults.h"
#include "support/blocks.h"

enum { LIVE = 60 };

static struct live {
	unsigned char *p;
	size_t size;
	unsigned char value;
} live[LIVE];

/* Small, medium and large by turns. */
static size_t random_size(struct rt_random *r)
{
	static const unsigned shifts[] = {8, 12, 16, 20, 20, 22};

	return 1 + rt_below(r, (size_t)2 << shifts[rt_below(r, 6)]);
}

/* To the last usable byte: what is left dirty there must not shine through later. */
static void dirty(struct live *l, struct rt_random *r)
{
	l->value = (unsigned char)(1 + rt_below(r, 255));
	memset(l->p, l->value, ash_usable_size(l->p));
}

static void drop(struct live *l)
{
	holds(l->p, l->size, l->value);
	ash_release(l->p);
	l->p = NULL;
}

static void act(struct live *l, struct rt_random *r)
{
	size_t size = random_size(r), least;

	if (l->p == NULL) {
		l->p = ash_zalloc(1, size);
		l->size = size;
		CHECK(l->p != NULL);
		holds(l->p, size, 0);
		dirty(l, r);
	} else if (rt_below(r, 4) == 0) {
		least = size < l->size ? size : l->size;
		l->p = NOT_NULL(ash_resize(l->p, size));
		holds(l->p, least, l->value);
		l->size = size;
		dirty(l, r);
	} else {
		drop(l);
	}
}

/* Waves of blocks, all dirtied throughout, with a trim here and there. */
static void churn(void)
{
	size_t rounds = rt_under_qemu() ? 200 : rt_in_full() ? 3000 : 1000;
	struct rt_random random;

	rt_seed(&random, rt_test_seed());
	for (size_t n = 0; n < rounds; n++) {
		act(&live[rt_below(&random, LIVE)], &random);
		switch (rt_below(&random, 200)) {
		case 0:
			ash_trim(0);
			break;
		case 1:
			ash_trim(rt_below(&random, 20 * MIB));
			break;
		case 2:
			ash_thread_detach();
			break;
		case 3: /* all at once, so that chunks and regions come free */
			for (unsigned i = 0; i < LIVE; i++)
				if (live[i].p != NULL)
					drop(&live[i]);
			break;
		default:
			break;
		}
		if (n % 50 == 0)
			audit();
	}
	for (unsigned i = 0; i < LIVE; i++)
		if (live[i].p != NULL)
			drop(&live[i]);
	ash_trim(0);
	audit();
}

/* The same in a system with these faults. */
static void churn_with(struct faults some)
{
	faults = some;
	churn();
}

TEST_CALL(advice_honest, 60, churn());
TEST_CALL(advice_lies, 60, churn_with((struct faults){.advice_lies = true}));
TEST_CALL(advice_refused, 60, churn_with((struct faults){.advice_error = -FAULT_EINVAL}));
TEST_CALL(advice_no_mremap, 60, churn_with((struct faults){.mremap_error = -FAULT_EINVAL}));

/* Pages that are not there may be in swap: not there is not zero. */
TEST_CALL(advice_swapped, 60, churn_with((struct faults){.swapped = true}));

/* Addresses are never given back either: all memory is reused dirty. */
TEST_CALL(advice_lies_no_munmap, 60, churn_with((struct faults){.advice_lies = true, .munmap_error = -FAULT_ENOMEM}));
TEST_CALL(advice_refused_no_munmap, 60,
	  churn_with((struct faults){.advice_error = -FAULT_EINVAL, .munmap_error = -FAULT_ENOMEM}));

/* Trusted at first, refused afterwards: as when a program locks its memory later. */
TEST(advice_refused_later, 60)
{
	ash_release(ash_alloc(2 * MIB)); /* no more, so that it stays until the trim */
	CHECK(ash_trim(1) > 0 || rt_under_qemu());
	churn_with((struct faults){.advice_error = -FAULT_EINVAL, .munmap_error = -FAULT_ENOMEM});
}

TEST(advice_refused_swapped, 60)
{
	ash_release(ash_alloc(3 * MIB));
	(void)ash_trim(1);
	churn_with((struct faults){.swapped = true, .advice_error = -FAULT_EINVAL});
}

/* What is said to be given back was: nothing, when the advice does nothing. */
TEST(advice_trim_tells_the_truth, 60)
{
	unsigned char *p;
	size_t bytes;

	faults.advice_lies = true; /* from the first time on that it is tried */
	CHECK(ash_alloc(MIB + 1) != NULL);
	for (int lies = 0; lies < 2; lies++) {
		faults.advice_lies = lies == 0;
		if (lies == 1)
			faults.advice_error = -FAULT_EINVAL;
		p = ash_alloc(3 * MIB);
		memset(p, 1, 3 * MIB);
		ash_release(p);
		bytes = ash_trim(1);
		CHECK_EQ(bytes, 0);
		CHECK(stats_now().dirty >= 3 * MIB);
	}
}

/* SPDX-License-Identifier: MIT */
/* Whole free pages between live blocks go back to the system, with no call and no thread for it. */
/* promises: ash_alloc, ash_release */
#include "ashlar.h"
#include "support/blocks.h"
#include "support/resident.h"

enum { KEPT_OF = 20 };


struct peak {
	void **blocks;
	size_t n, size;
};

static struct peak peak_take(size_t bytes, size_t size)
{
	struct peak p = {NULL, bytes / size, size};

	p.blocks = NOT_NULL(ash_zalloc(p.n, sizeof *p.blocks));
	alloc_each(p.blocks, p.n, size);
	for (size_t i = 0; i < p.n; i++)
		memset(p.blocks[i], 1, size);
	return p;
}

/* In the order of allocation; one block in KEPT_OF stays. */
static void peak_thins(struct peak *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (i % KEPT_OF != 0) {
			ash_release(p->blocks[i]);
			p->blocks[i] = NULL;
		}
}

static void peak_ends(struct peak *p)
{
	for (size_t i = 0; i < p->n; i++)
		ash_release(p->blocks[i]);
	ash_release(p->blocks);
}

/* What stays: the pages of live blocks, a quarter of those, and the part of the heap that the hand saw before. */
static void holes_go(size_t size)
{
	size_t bytes = scaled(160 * MIB, 40 * MIB), before, live, resident;
	struct peak p;

	ash_release(ash_alloc(1));
	before = rt_anonymous();
	p = peak_take(bytes, size);
	live = p.n / KEPT_OF * (PAGE + size);
	peak_thins(&p);
	resident = rt_anonymous() - before;
	rt_print("     %zu-byte blocks: %zu KiB live, %zu KiB resident\n", size, live / 1024, resident / 1024);
	if (figures())
		CHECK(resident <= live + live / 2 + bytes / 8 + ash_defaults.retain);
	for (size_t i = 0; i < p.n; i += KEPT_OF)
		for (size_t k = 0; k < size; k++)
			CHECK_EQ(((unsigned char *)p.blocks[i])[k], 1);
	peak_ends(&p);
	CHECK_EQ(ash_check(), 0);
}

TEST(keep_no_holes_of_512, 20)
{
	holes_go(512);
}

TEST(keep_no_holes_of_2000, 20)
{
	holes_go(2000);
}

TEST(keep_no_holes_of_6000, 20)
{
	holes_go(6000);
}

/* A peak that comes again and again faults in no more than a part of its holes: the floor rises. */
TEST(keep_holes_of_a_peak_that_comes_again, 60)
{
	struct peak p = peak_take(scaled(100 * MIB, 20 * MIB), 1000);
	unsigned long first = 0, last = 0, before;

	for (unsigned round = 0; round < 8; round++) {
		peak_thins(&p);
		before = rt_faults();
		for (size_t i = 0; i < p.n; i++)
			if (p.blocks[i] == NULL)
				memset(p.blocks[i] = NOT_NULL(ash_alloc(1000)), 1, 1000);
		last = rt_faults() - before;
		first = round == 0 ? last : first;
	}
	rt_print("     faults: %lu in the first round, %lu in the last one\n", first, last);
	if (figures())
		CHECK(last <= first / 4);
	peak_ends(&p);
}

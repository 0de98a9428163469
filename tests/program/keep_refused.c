/* SPDX-License-Identifier: MIT */
/* A system that refuses to take memory back for a while: afterwards it is asked again. */
/* promises: ash_trim */
#include "backend/heap.h"
#include "backend/region.h"
#include "backend/retain.h"
#include "program/faults.h"
#include "support/blocks.h"

enum { BLOCKS = 200 };

/* So much is taken, and released. */
static void peak(void)
{
	static unsigned char *p[BLOCKS];

	for (int i = 0; i < BLOCKS; i++) {
		p[i] = NOT_NULL(ash_alloc(MIB / 2));
		memset(p[i], 1, MIB / 2);
	}
	release_each(p, BLOCKS);
}

/* As many slow operations as three periods have. */
static void periods(void)
{
	for (uint64_t i = 0; i < 3 * RETAIN_PERIOD; i++)
		ash_release(ash_alloc(MIB + MIB / 2));
}

static size_t kept(void)
{
	return stats_now().dirty;
}

TEST(refused_until_a_trim, 60)
{
	if (rt_under_qemu())
		rt_skip("what is kept is the same natively");
	CHECK(ash_alloc(100) != NULL); /* it stays, and so its chunk: nothing fresh is taken later */
	faults.advice_error = -FAULT_EINVAL;
	faults.advice_least = CHUNK_SIZE / 2; /* refused for a page, memory counts as locked, and is unmapped */
	peak();
	(void)ash_trim(SIZE_MAX); /* no slab is spare: the trim below changes nothing else */
	periods();
	CHECK(kept() > ash_defaults.retain);
	faults.advice_error = 0;
	periods();
	(void)ash_trim(SIZE_MAX); /* gives nothing back, but it may be asked again */
	CHECK(kept() > ash_defaults.retain);
	periods();
	CHECK(kept() <= ash_defaults.retain);
	CHECK_EQ(ash_check(), 0);
}

/* Pages that the system does not move stay where they are, and are counted there. */
TEST(refused_moves_of_pages, 20)
{
	enum { CHUNKS = 5 };
	static const size_t lent = 2;
	char *p = NOT_NULL(ash_alloc(lent * CHUNK_SIZE)), *q;

	heap_default.floor = BLOCKS * CHUNK_UNITS;
	memset(p, 1, lent * CHUNK_SIZE);
	CHECK(ash_alloc(CHUNK_SIZE) != NULL); /* behind it: the next block has its place elsewhere */
	ash_release(p);
	CHECK_EQ(kept(), lent * CHUNK_SIZE);
	for (int i = 0; i < 3; i++) {
		faults.mremap_error = -FAULT_EINVAL;
		q = ash_alloc(CHUNKS * CHUNK_SIZE);
		CHECK(q != NULL && q != p);
		CHECK_EQ(heap_default.dirty * UNIT_SIZE, kept());
		ash_release(q);
		CHECK_EQ(heap_default.dirty * UNIT_SIZE, kept());
		(void)ash_trim(lent * CHUNK_SIZE);
	}
	CHECK_EQ(ash_check(), 0);
}

/* SPDX-License-Identifier: MIT */
/* What others do while this thread is in a system call that gives memory back. */
/* promises: ash_trim */
#include "ashlar.h"
#include "backend/chunk.h"
#include "backend/heap.h"
#include "backend/retain.h"
#include "backend/region.h"
#include "rt.h"
#include "backend/units.h"
#include "support/wrap.h"

static void (*act)(void);

WRAP(long, arch_madvise, (void *p, size_t n, int advice))
{
	void (*now)(void) = act;

	act = NULL;
	if (now != NULL)
		now();
	return __real_arch_madvise(p, n, advice);
}

static bool no_small_ones;

WRAP(long, arch_mmap, (void *p, size_t n, long protection, long flags, long fd, long offset))
{
	return no_small_ones && n < 4 * MIB ? -12 : __real_arch_mmap(p, n, protection, flags, fd, offset);
}

static struct units last, other;

DOES(give_last, units_give(&heap_default, last));
DOES(take_one, other = units_claim(&heap_default, 1, true, false));

/* All of a new chunk, of which all but the last unit came back; they are to be purged. */
static struct chunk *nearly_free(void)
{
	struct units u = units_claim(&heap_default, CHUNK_UNITS, true, false);

	CHECK(u.chunk != NULL);
	last = (struct units){u.chunk, CHUNK_UNITS - 1, 1, false};
	u.count--;
	u.clean = false; /* they count as written */
	units_give(&heap_default, u);
	CHECK_EQ(heap_default.dirty, CHUNK_UNITS - 1);
	return u.chunk;
}

static bool has_hint(const struct chunk *c)
{
	return ((uint8_t *)c->region->room)[c->index] != 0;
}

/* The last unit comes back while all others are held: who holds them returns the chunk. */
TEST(meanwhile_the_last_unit_is_given, 10)
{
	struct chunk *c = nearly_free();

	act = give_last;
	CHECK_EQ(chunk_purge(&heap_default, c), (CHUNK_UNITS - 1) * UNIT_SIZE);
	CHECK(act == NULL);
	CHECK(chunk_is(c, CHUNK_FREE));
	CHECK_EQ(c->units, 0);
	CHECK(!has_hint(c));
	CHECK_EQ(heap_default.slab_chunks, 0);
	CHECK_EQ(heap_default.dirty, CHUNK_UNITS); /* dirty as a whole */
	CHECK_EQ(ash_check(), 0);
}

/* Who looks for units while all are held takes the hint away: it comes back. */
TEST(meanwhile_the_hint_goes, 10)
{
	struct chunk *c = nearly_free();

	act = take_one;
	CHECK_EQ(chunk_purge(&heap_default, c), (CHUNK_UNITS - 1) * UNIT_SIZE);
	CHECK(other.chunk != NULL && other.chunk != c);
	CHECK(has_hint(c));
	CHECK_EQ(c->clean, ~(uint64_t)0 >> 1);
	CHECK_EQ(heap_default.dirty, 0);
	other = units_claim(&heap_default, 1, false, false);
	CHECK(other.chunk != NULL && other.clean);
	give_last();
}

/* Addresses for which no metadata can be had are given back. */
TEST(meanwhile_no_metadata, 10)
{
	size_t before;

	ash_release(ash_alloc(100 * MIB));
	(void)ash_trim(0);
	before = rt_address_space();
	no_small_ones = true;
	CHECK(ash_alloc((size_t)8 << 30) == NULL);
	no_small_ones = false;
	CHECK_EQ(heap_default.reserved, 0);
	if (!rt_under_qemu())
		CHECK_EQ(rt_address_space(), before);
}

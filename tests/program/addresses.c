/* SPDX-License-Identifier: MIT */
/* System calls of huge requests, and requests under a limit of which the k-th call is refused. */
/* promises: ash_alloc, ash_resize, ash_zalloc */
#include "ashlar.h"
#include "backend/region.h"
#include "cpu.h"
#include "program/faults.h"
#include "support/blocks.h"

const struct ash_defaults ash_defaults = {.initial = 2 * MIB, .retain = 10 * MIB, .sparse = 1};

/* A size that no CPU of the kind can address makes no call. */
TEST(addresses_impossible_makes_no_call, 10)
{
	void *kept = ash_alloc(3 * MIB), *p;

	ash_release(kept);
	faults.armed = true;
	for (unsigned power = CPU_ADDRESS_BITS; power < 64; power++) {
		CHECK(ash_alloc((size_t)1 << power) == NULL);
		CHECK(ash_zalloc(2, (size_t)1 << (power - 1)) == NULL);
		CHECK(ash_aligned_alloc(4096, (size_t)1 << power) == NULL);
		p = ash_resize(NULL, (size_t)1 << power);
		CHECK(p == NULL);
	}
	CHECK_EQ(faults.calls, 0);
}

/* A refused request leaves the heap its retained memory, and does not ask often. */
TEST(addresses_refused_keeps_the_rest, 10)
{
	void *kept = ash_alloc(3 * MIB);

	ash_release(kept);
	faults.mmap_most = 64 * MIB;
	faults.armed = true;
	CHECK(ash_alloc((size_t)1 << 40) == NULL);
	CHECK(faults.calls <= 6);
	CHECK(ash_alloc(3 * MIB) == kept);
}

/* Addresses for which no metadata can be had are given back. */
TEST(addresses_without_metadata_go_back, 10)
{
	size_t before;
	void *p;

	ash_release(ash_alloc(100 * MIB));
	(void)ash_trim(0);
	before = rt_address_space();
	faults.fail_at = 2; /* the first call maps the block */
	faults.fail_count = 1;
	faults.armed = true;
	p = ash_alloc((size_t)8 << 30);
	faults.armed = false;
	CHECK(faults.failed > 0);
	if (p != NULL && rt_under_qemu())
		rt_skip("here the second call maps the block, too, because the first place was not aligned");
	CHECK(p == NULL);
	CHECK_EQ(heap_default.reserved, 0);
	if (!rt_under_qemu())
		CHECK_EQ(rt_address_space(), before);
}

/* Where the kernel promises no more (vm.overcommit_memory), addresses are not short; where data is limited, they are. */
TEST(addresses_are_not_what_is_promised, 10)
{
	CHECK(ash_alloc(3 * MIB) != NULL);
	faults.data_most = 20 * MIB;
	CHECK(ash_alloc(5 * MIB) != NULL && region_addresses_short == 0);
	faults.data_alone = true;
	CHECK(ash_alloc(5 * MIB) != NULL && region_addresses_short == 1);
	faults.data_most = 0;
	CHECK(ash_alloc(5 * MIB) != NULL && region_addresses_short == 0);
}

/* A huge block costs few calls, with its leaves of the map; the second time no leaf. */
TEST(addresses_huge_makes_few_calls, 10)
{
	/* QEMU 7.2 keeps a record of each page that is mapped. */
	const size_t size = (size_t)1 << (rt_under_qemu() ? 34 : 45);
	void *p = ash_alloc(size);

	if (p == NULL)
		rt_skip("this kernel has no addresses for it");
	ash_release(p);
	faults.armed = true;
	for (unsigned i = 0; i < 8; i++) {
		p = NOT_NULL(ash_alloc(size));
		ash_release(p);
	}
	/* Three each; more where the place is another one each time, which is cut to an alignment and needs leaves. */
	CHECK(faults.calls <= 8 * 9);
	CHECK_EQ(ash_check(), 0);
}

enum { BLOCKS = 24 };

/* Each call is refused once, and from some moment on, while addresses are short. */
static void short_of_addresses(size_t fail_at, size_t fail_count)
{
	static void *blocks[BLOCKS];
	unsigned i;

	faults.budget = 40 * MIB;
	faults.calls = faults.failed = 0;
	faults.fail_at = fail_at;
	faults.fail_count = fail_count;
	faults.armed = true;
	for (i = 0; i < BLOCKS; i++) {
		size_t size = i % 3 == 0 ? 1049000 : i % 3 == 1 ? 2100 * KIB : 70000;

		blocks[i] = i % 2 == 0 ? ash_alloc(size) : ash_zalloc(1, size);
		if (blocks[i] != NULL)
			memset(blocks[i], (int)i + 1, size);
	}
	for (i = 0; i < BLOCKS; i += 2) {
		unsigned char *p = ash_resize(blocks[i], i % 4 == 0 ? 3000000 : 1100000);

		if (p != NULL) {
			CHECK(blocks[i] == NULL || (p[0] == i + 1 && p[69999] == i + 1));
			blocks[i] = p;
		}
	}
	release_each(blocks, BLOCKS);
	faults.armed = false;
	CHECK_EQ(ash_check(), 0);
}

TEST(addresses_short_and_refused, 60)
{
	size_t k = 1;

	do {
		short_of_addresses(k, 1);
		k++;
	} while (faults.failed != 0 && k < 120);
	for (k = 1; k < 200; k += 23)
		short_of_addresses(k, SIZE_MAX);
	faults.fail_at = 0;
	faults.budget = 0;
	ash_trim(0);
	CHECK_EQ(ash_check(), 0);
}

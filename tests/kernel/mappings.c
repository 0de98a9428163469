/* SPDX-License-Identifier: MIT */
/*
 * A kernel that lets a process have few mappings (vm.max_map_count): at the limit munmap of a middle part
 * is refused, too, as it makes two mappings of one.
 */
/* promises: ash_alloc, ash_release, ash_resize */
#include "ashlar_heap.h"
#include "support/stamp.h"
#include "syscall.h"

enum { MOST = 4000, LIMIT_MOST = 1000 };

static uint64_t stamps[MOST];

static size_t limit(void)
{
	size_t n = rt_number_of("/proc/sys/vm/max_map_count", "");

	if (n > LIMIT_MOST)
		rt_skip("vm.max_map_count is not small here");
	return n;
}

/* Mappings of the test's own, no two of which merge, until the kernel refuses; the last few are given back. */
static size_t use_up(size_t spare)
{
	size_t n = 0;
	char *p[LIMIT_MOST];

	while (n < LIMIT_MOST) {
		long r = arch_mmap(NULL, 4096, n % 2 != 0 ? 1 : 3, 0x22, -1, 0);

		if (r < 0)
			break;
		p[n++] = (char *)r; /* NOLINT: an address */
	}
	CHECK(n > spare && n < LIMIT_MOST);
	for (size_t i = 0; i < spare; i++)
		CHECK_EQ(arch_munmap(p[--n], 4096), 0);
	return n;
}

static size_t fill(size_t most)
{
	struct rt_random r;
	size_t n;

	rt_seed(&r, rt_test_seed());
	for (n = 0; n < most; n++) {
		size_t size = n % 3 == 0 ? 100 + rt_below(&r, 500000) : MIB + 1 + rt_below(&r, 6 * MIB);
		void *p = ash_alloc(size);

		if (p == NULL)
			break;
		stamps[n] = stamp_set(p, size, rt_next(&r));
	}
	return n;
}

/* Every second one first: holes, which need mappings; then the rest. */
static void release(size_t n)
{
	for (size_t i = 0; i < n; i += 2)
		stamp_release(stamps[i]);
	(void)ash_trim(0);
	CHECK_EQ(ash_check(), 0);
	for (size_t i = 1; i < n; i += 2)
		stamp_release(stamps[i]);
	(void)ash_trim(0);
	stamp_check_nothing_left();
}

static void rounds(size_t spare)
{
	size_t most = limit(), first = 0, n = 0;

	if (spare > 0)
		(void)use_up(spare);
	for (unsigned i = 0; i < 4; i++) {
		n = fill(600);
		rt_print("     %zu blocks, %zu mappings of %zu\n", n, rt_mappings(), most);
		CHECK(rt_mappings() <= most + 1); /* vsyscall is a line, and none of them */
		release(n);
		first = i == 0 ? n : first;
	}
	CHECK(n >= first / 10 * 9);
	CHECK(n > 0);
}

TEST_CALL(mappings_of_a_small_limit, 60, rounds(0));
TEST_CALL(mappings_none_but_twelve, 60, rounds(12));
TEST_CALL(mappings_none_but_five, 60, rounds(5));

/* At the limit a block still grows, or stays as it is. */
TEST(mappings_used_up_while_blocks_grow, 60)
{
	size_t size = 2 * MIB, refused = 0;
	unsigned char *p, *q;

	(void)limit();
	p = NOT_NULL(ash_alloc(size));
	memset(p, 7, size);
	(void)use_up(2);
	for (unsigned i = 0; i < 100; i++) {
		q = ash_resize(p, size + MIB);
		refused += q == NULL;
		if (q != NULL) {
			memset(q + size, 7, MIB);
			size += MIB;
			p = q;
		}
		(void)ash_alloc(100 + i);
	}
	rt_print("     %zu MiB, refused %zu times\n", size / MIB, refused);
	for (size_t i = 0; i < size; i += 509)
		CHECK_EQ(p[i], 7);
	ash_release(p);
	CHECK_EQ(ash_check(), 0);
}

/* Heaps: each needs a mapping of its own, and gives it back. */
TEST(mappings_of_heaps, 60)
{
	static ash_heap *heaps[LIMIT_MOST];
	size_t n, again;

	(void)limit();
	for (n = 0; n < LIMIT_MOST && (heaps[n] = ash_heap_create(NULL)) != NULL; n++)
		if (ash_heap_alloc(heaps[n], 3 * MIB) == NULL || ash_heap_alloc(heaps[n], 100) == NULL) {
			n++;
			break;
		}
	for (size_t i = n; i > 0; i--)
		ash_heap_destroy(heaps[i - 1]);
	for (again = 0; again < n && (heaps[again] = ash_heap_create(NULL)) != NULL; again++)
		;
	rt_print("     %zu heaps, %zu again\n", n, again);
	CHECK_EQ(again, n);
	CHECK_EQ(ash_check(), 0);
}

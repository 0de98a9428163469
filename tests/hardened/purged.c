/* SPDX-License-Identifier: MIT */
/*
 * promises: a hardened product reports a write after release also where the memory was purged before or after it, or is
 * not handed out again; calloc never hands such bytes out; a trim gives back what was cleared.
 */
#include "support/blocks.h"
#include "support/malloc_names.h"
#include "support/resident.h"

enum { SIGABRT = 6, SEEN = 7, MISSED = 8 };
#define AFTER "written after its release"
#define MOST  ((size_t)1 << 20)

static char *p[MOST];

struct peak {
	size_t size, bytes;
	uint64_t seed;
};

static void reports(const char *name, void (*body)(void *), void *argument)
{
	char text[400];
	int status = rt_run_child(body, argument, text, sizeof text);

	if (status != 1000 + SIGABRT || rt_strstr(text, AFTER) == NULL)
		rt_print("     %s: status %d, %s\n", name, status, text);
	CHECK_EQ(status, 1000 + SIGABRT);
	CHECK(rt_strstr(text, AFTER) != NULL);
}

/* Blocks of one size, released; a write into any of them. */
static size_t peak_written(const struct peak *at)
{
	size_t n = at->bytes / at->size, i;
	struct rt_random r;

	rt_seed(&r, at->seed);
	for (i = 0; i < n; i++)
		memset(p[i] = NOT_NULL(malloc(at->size)), 1, at->size);
	for (i = 0; i < n; i++)
		free(p[i]);
	memset(p[rt_below(&r, n)] + at->size / 2, 0x41, 8);
	return n;
}

/* Thrice as many blocks come again. */
static void peak_again(void *argument)
{
	const struct peak *at = argument;
	size_t n = 3 * peak_written(at), i, k;
	char *q;

	for (i = 0; i < n; i++) {
		q = NOT_NULL(calloc(1, at->size));
		for (k = 0; k < at->size; k++)
			if (q[k] != 0)
				rt_exit(SEEN);
	}
	rt_exit(MISSED);
}

static void peaks_again(size_t bytes, unsigned times)
{
	static const size_t sizes[] = {24, 200, 2000, 9000, 20000, 100000};
	struct peak at = {.bytes = bytes};

	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (unsigned k = 0; k < times; k++) {
			at.size = sizes[i];
			at.seed = rt_test_seed() + k;
			reports("peak_again", peak_again, &at);
		}
}

TEST_CALL(hardened_written_after_a_peak, 240, peaks_again(2 * MIB, 10));
TEST_CALL(hardened_written_after_a_peak_purged, 240, peaks_again(scaled(24, 6) * MIB, 4));

/* Blocks that keep each part of the memory mapped lie between. */
static void peak_trimmed(void *argument)
{
	struct peak *at = argument;
	size_t i, n = at->bytes / at->size;

	for (i = 0; i < n; i++)
		memset(p[i] = NOT_NULL(malloc(at->size)), 1, at->size);
	for (i = 0; i < n; i++)
		if (i % 16 != 5)
			free(p[i]);
	if (at->seed == 1)
		(void)ash_trim(0);
	memset(p[n / 2 / 16 * 16] + at->size / 2, 0x41, 8);
	if (at->seed == 0)
		(void)ash_trim(0);
	if (at->seed == 2)
		while (ash_trim_step(SIZE_MAX) > 0)
			;
	/* Beyond what is free, as places are random: where the heap grows, all free memory is compared. */
	for (i = 0; i < 4 * n; i++)
		(void)NOT_NULL(malloc(at->size));
	rt_exit(MISSED);
}

TEST(hardened_written_before_a_trim, 60)
{
	static const size_t sizes[] = {200, 2000, 20000, 100000};
	struct peak at = {.bytes = 4 * MIB};

	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (at.size = sizes[i], at.seed = 0; at.seed < 3; at.seed++)
			reports("peak_trimmed", peak_trimmed, &at);
}

/* Beyond 1024 large blocks, so that some share a region. */
static void large_shared(void *seed)
{
	enum { MANY = 1200, SIZE = 1200000 };
	bool zeroed = ((uintptr_t)seed & 1) != 0;
	char *q;

	for (unsigned i = 0; i < MANY; i++)
		*(p[i] = NOT_NULL(malloc(SIZE))) = 1;
	for (unsigned i = MANY - 20; i < MANY; i++)
		free(p[i]);
	p[MANY - 3][(uintptr_t)seed * 4096] = 1;
	for (unsigned i = 0; i < 40; i++) {
		q = NOT_NULL(zeroed ? calloc(1, SIZE) : malloc(SIZE));
		for (unsigned k = 0; k < SIZE; k += 4096)
			if (q[k] != 0)
				rt_exit(SEEN);
	}
	rt_exit(MISSED);
}

TEST(hardened_large_block_written_after_release, 120)
{
	for (uintptr_t seed = 0; seed < 6; seed++)
		reports("large_shared", large_shared, (void *)seed); /* NOLINT: no address */
}

/* One block in 64 stays, so that hardly a slab goes: their free pages do, although they read zero before. */
TEST(hardened_trim_gives_back_what_was_cleared, 60)
{
	enum { SIZE = 1000, BLOCKS = 40000 };
	size_t peak, left, most = BLOCKS / 64 * 2 * PAGE + 4 * MIB;

	needs_small_pages();
	for (unsigned i = 0; i < BLOCKS; i++)
		memset(p[i] = NOT_NULL(malloc(SIZE)), 1, SIZE);
	peak = rt_anonymous();
	for (unsigned i = 0; i < BLOCKS; i++)
		if (i % 64 != 0)
			free(p[i]);
	(void)ash_trim(0);
	left = rt_anonymous();
	rt_print("     %zu KiB, %zu after a trim\n", peak >> 10, left >> 10);
	CHECK(!figures() || (peak > 38 * MIB && left < most));
	CHECK_EQ(ash_check(), 0);
}

/* New memory is compared, too, and costs little more than a fault a page, although it is read before it is written. */
TEST(hardened_new_memory_faults_once, 30)
{
	static const size_t sizes[] = {120, 200, 1000, 3000};

	needs_small_pages();
	for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		size_t n = 8 * MIB / sizes[k], i;
		unsigned long before, faults;

		before = rt_faults();
		for (i = 0; i < n; i++)
			memset(NOT_NULL(malloc(sizes[k])), 1, sizes[k]);
		faults = rt_faults() - before;
		rt_print("     %zu bytes: %lu faults for %zu pages\n", sizes[k], faults, n * sizes[k] / PAGE);
		CHECK(!figures() || faults < n * (sizes[k] + 16) / PAGE * 3 / 2 + 200);
	}
}

static void free_all(void *count)
{
	for (size_t i = 0; i < (uintptr_t)count; i++)
		free(p[i]);
}

/* Their memory has no access, also where another thread emptied so many slabs that their owner's are purged. */
TEST(hardened_blocks_of_size_0_released_by_another, 60)
{
	size_t n = scaled(600000, 300000);

	for (size_t i = 0; i < n; i++)
		p[i] = NOT_NULL(malloc(0));
	rt_in_thread(free_all, (void *)n); /* NOLINT: no address */
	CHECK_EQ(ash_check(), 0);
	for (size_t i = 0; i < n; i++)
		p[i] = NOT_NULL(malloc(0));
	CHECK_EQ(ash_check(), 0);
}

/* SPDX-License-Identifier: MIT */
#include <ashlar.h>

#include "demo.h"
#include "rt.h"

#define PAGE ((size_t)4096)

static double microseconds(uint64_t nanoseconds)
{
	return (double)nanoseconds / 1e3;
}

static bool fail(const char *what)
{
	progress_end();
	rt_print("   FAILED: %s\n", what);
	return false;
}

/* ---- 1: a batch of small blocks ---- */

#define BATCH 1000
#define SMALL 128

struct batch {
	uint64_t taking, giving;
};

static bool batch_round(struct batch *out)
{
	static void *block[BATCH];
	bool all = true;
	uint64_t start, middle;

	memset(block, 0, sizeof(block)); /* its page faults are not Ashlar's */
	start = rt_now();
	for (int i = 0; i < BATCH; i++)
		block[i] = ash_alloc(SMALL);
	middle = rt_now();
	for (int i = 0; i < BATCH; i++) {
		all &= block[i] != NULL;
		ash_release(block[i]);
	}
	out->giving = rt_now() - middle;
	out->taking = middle - start;
	return all;
}

static void batch_print(const char *name, struct batch b)
{
	uint64_t both = b.taking + b.giving;

	rt_print("   %-25s allocate %8.1f us   release %8.1f us   %7.1f ns a pair\n", name,
		 microseconds(b.taking), microseconds(b.giving), (double)both / BATCH);
}

static bool small_blocks(const void *argument)
{
	size_t rounds = rt_under_qemu() ? 50 : 5000;
	struct batch cold, warm, best = {UINT64_MAX / 2, UINT64_MAX / 2};
	unsigned long faults;
	char name[32];

	(void)argument;
	rt_now(); /* the clock's own first call */
	faults = rt_faults();
	if (!batch_round(&cold))
		return fail("no memory");
	faults = rt_faults() - faults;
	for (size_t i = 0; i < rounds; i++) {
		if (!batch_round(&warm))
			return fail("no memory");
		if (warm.taking + warm.giving < best.taking + best.giving)
			best = warm;
	}
	batch_print("first calls of a process", cold);
	rt_print("   %-25s %lu page faults, those of start-up included\n", "", faults);
	rt_format(name, sizeof(name), "best of %zu more rounds", rounds);
	batch_print(name, best);
	return true;
}

/* ---- 2: zeroed against cleared ---- */

static bool one_large(const void *argument)
{
	size_t size = rt_under_qemu() ? 64 * MIB : 1024 * MIB;
	uint64_t start, best = UINT64_MAX;
	void *p;

	(void)argument;
	start = rt_now();
	p = ash_zalloc(1, size);
	if (p == NULL)
		return fail("no memory");
	ash_release(p);
	rt_print("   %4zu MiB ash_zalloc, ash_release, untouched     %12.1f us\n", size / MIB,
		 microseconds(rt_now() - start));

	/* The first touch of memory that the host itself has not got yet is slow: best of three. */
	for (size_t i = 0; i < 3; i++) {
		progress("clearing", i, 3);
		ash_trim(0);
		start = rt_now();
		p = ash_alloc(size);
		if (p == NULL)
			return fail("no memory");
		memset(p, 0, size);
		ash_release(p);
		start = rt_now() - start;
		if (start < best)
			best = start;
	}
	progress_end();
	rt_print("   %4zu MiB ash_alloc, cleared, ash_release        %12.1f us\n", size / MIB,
		 microseconds(best));
	return true;
}

/* ---- 3: zeroed again and again ---- */

static bool is_zero(const char *p, size_t size)
{
	char all = 0;

	for (size_t i = 0; i < size; i++)
		all |= p[i];
	return all == 0;
}

/*
 * Looking is touching: rounds that check cost page faults of their own, so
 * they are not among those timed.
 */
static bool zeroed_rounds(const char *name, size_t rounds, size_t size, bool touch, bool look)
{
	unsigned long faults = rt_faults();
	uint64_t start = rt_now();

	for (size_t i = 0; i < rounds; i++) {
		char *p = ash_zalloc(1, size);

		if (p == NULL)
			return fail("no memory");
		if (look && (!is_zero(p, PAGE) || !is_zero(p + size - PAGE, PAGE)))
			return fail("zeroed block is not zero");
		if (touch)
			memset(p, 0xa5, PAGE);
		ash_release(p);
		if (i % 64 == 0)
			progress(name, i, rounds);
	}
	start = rt_now() - start;
	faults = rt_faults() - faults;
	progress_end();
	if (!look)
		rt_print("   %6zu x %zu MiB, %-20s %8.2f us and %5.2f page faults each\n", rounds,
			 size / MIB, name, microseconds(start) / (double)rounds,
			 (double)faults / (double)rounds);
	return true;
}

static bool zeroed_again(const void *argument)
{
	size_t rounds = rt_under_qemu() ? 200 : 10000;
	size_t size = (rt_under_qemu() ? 16 : 100) * MIB;

	(void)argument;
	return zeroed_rounds("untouched", rounds, size, false, false) &&
	       zeroed_rounds("first page written", rounds, size, true, false) &&
	       zeroed_rounds("verifying", rounds / 100, size, true, true);
}

/* ---- 4: sizes that overflow ---- */

static bool overflow(const void *argument)
{
	size_t half = PTRDIFF_MAX;

	(void)argument;
	if (ash_zalloc(half, half) != NULL)
		return fail("ash_zalloc(2^63-1, 2^63-1) gave a block");
	rt_print("   ash_zalloc(2^63-1, 2^63-1) is NULL\n");
	return true;
}

bool experiments(void)
{
	static const struct {
		const char *shows;
		bool (*body)(const void *);
	} list[] = {
		{"1000 blocks of 128 bytes: what a small block costs, from the first on.",
		 small_blocks},
		{"One large block: zero that the system gives is not cleared a second time.",
		 one_large},
		{"A large zeroed block, again and again: recycled memory costs what was written.",
		 zeroed_again},
		{"A product that overflows: no block, rather than one too small.", overflow},
	};
	bool good = true;

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		rt_print("%zu. %s\n", i + 1, list[i].shows);
		good &= in_child(list[i].body, NULL);
		rt_print("\n");
	}
	return good;
}

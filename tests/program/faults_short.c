/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* LDFLAGS: -Wl,--wrap=arch_mmap,--wrap=arch_munmap,--wrap=arch_madvise,--wrap=arch_mremap,--wrap=arch_mincore */
/* clang-format on */
/*
 * Few addresses are left, and the k-th call fails, for each k: blocks keep their bytes, zeroed ones are zero,
 * and what is released can be had again.
 */
/* promises: ash_alloc, ash_expand, ash_resize, ash_zalloc */
#include "program/audit.h"
#include "program/faults.h"

enum { BLOCKS = 400, STEPS = 600 };

static struct block {
	unsigned char *p;
	size_t size;
	unsigned char value;
} blocks[BLOCKS];

static const size_t sizes[] = {33000, 70000, 300000, 1049000, 2100 * KIB, 5 * MIB, 100, 5000, 700000, 3 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes };

static size_t stride(size_t size)
{
	return size > 65536 ? 4093 : 61;
}

static void fill(struct block *b, size_t from, unsigned value)
{
	b->value = (unsigned char)(value % 255 + 1);
	for (size_t i = 0; i < b->size; i += stride(b->size))
		b->p[i] = b->value;
	b->p[b->size - 1] = b->value;
	(void)from;
}

static void verify(const struct block *b, size_t upto)
{
	for (size_t i = 0; i < upto; i += stride(b->size))
		CHECK_EQ(b->p[i], b->value);
}

static void drop(struct block *b)
{
	if (b->p == NULL)
		return;
	verify(b, b->size);
	CHECK_EQ(b->p[b->size - 1], b->value);
	ash_release(b->p);
	b->p = NULL;
}

static void take(struct block *b, size_t size, bool zero, unsigned value)
{
	b->p = zero ? ash_zalloc(1, size) : ash_alloc(size);
	b->size = size;
	if (b->p == NULL)
		return;
	for (size_t i = 0; zero && i < size; i += 97)
		CHECK_EQ(b->p[i], 0);
	fill(b, 0, value);
}

/* Content at the old stride is verified before; afterwards as much as both have. */
static void resize(struct block *b, size_t size, unsigned value)
{
	unsigned char *p;
	size_t had = b->size, i;

	verify(b, had);
	p = ash_resize(b->p, size);
	if (p == NULL) {
		verify(b, had);
		return;
	}
	for (i = 0; i < (had < size ? had : size); i += stride(had))
		CHECK_EQ(p[i], b->value);
	b->p = p;
	b->size = size;
	fill(b, 0, value);
}

static void works(void)
{
	struct rt_random random;

	rt_seed(&random, 77);
	for (unsigned n = 0; n < STEPS; n++) {
		struct block *b = &blocks[rt_below(&random, n % 300 < 150 ? BLOCKS : 40)];
		size_t size = sizes[rt_below(&random, SIZES)] + rt_below(&random, 3) * 4096;
		unsigned what = (unsigned)rt_below(&random, 8);

		if (b->p == NULL) {
			take(b, size, what % 2 == 0, n);
		} else if (what < 3) {
			resize(b, size, n);
		} else if (what == 3) {
			verify(b, b->size);
			if (ash_expand(b->p, b->size + 100000) != 0) {
				verify(b, b->size);
				b->size += 100000;
				fill(b, 0, n);
			}
		} else {
			drop(b);
		}
		if (n % 500 == 499)
			(void)ash_trim(n % 1000 == 999 ? 0 : 4 * MIB);
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		drop(&blocks[i]);
}

static size_t fits(size_t size)
{
	size_t n = 0;

	while (n < BLOCKS && (blocks[n].p = ash_alloc(size)) != NULL)
		n++;
	for (size_t i = 0; i < n; i++) {
		ash_release(blocks[i].p);
		blocks[i].p = NULL;
	}
	return n;
}

static void run(UNUSED void *argument)
{
	size_t large, small;

	faults.budget = 40 * MIB + 1; /* never 0, which is no limit */
	faults.armed = true;
	works();
	faults.armed = false;
	audit();
	large = fits(1049000);
	small = fits(150000);
	rt_fprint(2, "%zu %zu %zu", faults.calls, large, small);
	CHECK(large >= (faults.fail_at == 0 ? 34 : faults.fail_count == 1 ? 28 : 1));
	CHECK(small >= (faults.fail_at == 0 ? 230 : faults.fail_count == 1 ? 190 : 1));
	(void)ash_trim(0);
	audit();
	faults.failed = 0;
	works();
	(void)ash_trim(0);
	audit();
}

static size_t number(const char **text)
{
	size_t n = 0;

	while (**text == ' ')
		++*text;
	for (; **text >= '0' && **text <= '9'; ++*text)
		n = n * 10 + (size_t)(**text - '0');
	return n;
}

static void fail_each(size_t failing, size_t step)
{
	char text[512];
	const char *from = text;
	size_t calls, large, small, least_large = SIZE_MAX, least_small = SIZE_MAX, k;

	CHECK_EQ(rt_run_child(run, NULL, text, sizeof text), 0);
	calls = number(&from);
	large = number(&from);
	small = number(&from);
	rt_print("     %zu calls; %zu, %zu fit\n", calls, large, small);
	for (k = 1; k <= calls; k += step) {
		int status;
		size_t n;

		faults.fail_at = k;
		faults.fail_count = failing;
		status = rt_run_child(run, NULL, text, sizeof text);
		if (status != 0)
			rt_print("     call %zu of %zu fails: status %d %s\n", k, calls, status, text);
		CHECK_EQ(status, 0);
		from = text;
		(void)number(&from);
		n = number(&from);
		least_large = n < least_large ? n : least_large;
		n = number(&from);
		least_small = n < least_small ? n : least_small;
	}
	rt_print("     after a failure at least %zu, %zu\n", least_large, least_small);
}

TEST(faults_short_one_call, 600)
{
	fail_each(1, rt_under_qemu() ? 101 : rt_in_full() ? 1 : 41);
}

TEST(faults_short_all_calls_from_there, 600)
{
	fail_each(SIZE_MAX / 2, rt_under_qemu() ? 211 : rt_in_full() ? 2 : 149);
}

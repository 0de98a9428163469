/* SPDX-License-Identifier: MIT */
/* Random calls against a shadow model: the allocator's word for nothing. */
/* promises: ash_alloc, ash_aligned_alloc, ash_release, ash_resize, ash_zalloc */
#include "support/blocks.h"

enum { LIVE_MAX = 4000 };

struct block {
	unsigned char *p;
	size_t size;
	uint64_t key;
};

static size_t random_size(struct rt_random *r)
{
	unsigned kind = (unsigned)rt_below(r, 1000);

	if (kind < 2) /* spans, some of several chunks */
		return ((size_t)1 << 20) + rt_below(r, (size_t)6 << 20);
	if (kind < 20)
		return rt_below(r, (size_t)1 << rt_below(r, 21));
	return rt_below(r, (size_t)1 << rt_below(r, 13));
}

/* A byte for each place of a block; large blocks are sampled at page distance. */
static size_t stride(size_t size)
{
	return size > 65536 ? 509 : 1;
}

static unsigned char pattern(const struct block *b, size_t i)
{
	return (unsigned char)(b->key * 0x9e3779b97f4a7c15u >> 56) ^ (unsigned char)(i * 151);
}

static void fill(const struct block *b)
{
	for (size_t i = 0; i < b->size; i += stride(b->size))
		b->p[i] = pattern(b, i);
	if (b->size > 0)
		b->p[b->size - 1] = pattern(b, b->size - 1);
}

static void verify(const struct block *b, size_t upto, size_t step)
{
	for (size_t i = 0; i < upto; i += step)
		CHECK_EQ(b->p[i], pattern(b, i));
}

TEST(shadow_model, 120)
{
	static struct block blocks[LIVE_MAX];
	struct rt_random random;
	size_t live = 0, taken = 0, operations = rt_under_qemu() ? 100000 : rt_in_full() ? 1000000 : 300000;

	rt_seed(&random, rt_test_seed());
	for (size_t n = 0; n < operations; n++) {
		unsigned what = (unsigned)rt_below(&random, 100);
		/* Waves: the heap fills, then empties. */
		size_t goal = (n >> 16) & 1 ? LIVE_MAX / 20 : LIVE_MAX;

		if (what < 10 && live > 0) {
			struct block *b = &blocks[rt_below(&random, live)], old = *b;
			size_t size = random_size(&random);
			void *p = NOT_NULL(ash_resize(b->p, size));

			b->p = p;
			b->size = size;
			verify(b, size < old.size ? size : old.size, stride(old.size));
			b->key = rt_next(&random);
			fill(b);
		} else if ((live < goal && what < 60) || live == 0) {
			struct block *b = &blocks[live++];

			b->size = random_size(&random);
			b->key = rt_next(&random);
			if (what < 20) {
				b->p = NOT_NULL(ash_zalloc(1, b->size));
				for (size_t i = 0; i < b->size; i++)
					CHECK_EQ(b->p[i], 0);
			} else if (what < 25) {
				size_t alignment = (size_t)1 << rt_below(&random, 22);

				b->p = ash_aligned_alloc(alignment, b->size);
				CHECK_EQ((uintptr_t)b->p & (alignment - 1), 0);
			} else {
				b->p = ash_alloc(b->size);
			}
			CHECK(b->p != NULL && ash_usable_size(b->p) >= b->size);
			CHECK_EQ((uintptr_t)b->p % (b->size >= 16 ? 16 : 8), 0);
			fill(b);
		} else {
			struct block *b = &blocks[rt_below(&random, live)];

			verify(b, b->size, stride(b->size));
			if (what % 2)
				ash_release(b->p);
			else
				ash_release_sized(b->p, b->size);
			*b = blocks[--live];
		}
		if (n < 10000 ? !rt_under_qemu() || n % 10 == 0 : n % 1000 == 0) {
			CHECK_EQ(ash_check(), 0);
			CHECK_EQ(stats_now().blocks, live);
		}
		if (n % 50000 == 0)
			ash_trim(rt_below(&random, 8 << 20));
	}
	(void)taken;
	while (live > 0)
		ash_release(blocks[--live].p);
	CHECK_EQ(ash_check(), 0);
	CHECK_EQ(stats_now().blocks, 0);
	CHECK_EQ(stats_now().block_bytes, 0);
}

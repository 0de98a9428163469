/* SPDX-License-Identifier: MIT */
/* Bitmap arithmetic against models that look at one bit at a time. */
#include "base/bits.h"
#include "rt.h"

enum { WORDS = 6, BITS = WORDS * 64 };

static bool bit_at(const uint64_t *words, size_t i)
{
	return words[i / 64] >> (i % 64) & 1;
}

/* Words of all densities, with whole words full or empty more often than chance has it. */
static uint64_t random_word(struct rt_random *r)
{
	uint64_t word = rt_next(r);

	switch (rt_below(r, 8)) {
	case 0:
		return 0;
	case 1:
	case 2:
		return ~(uint64_t)0;
	case 3:
		return word & rt_next(r) & rt_next(r);
	case 4:
	case 5:
		return word | rt_next(r) | rt_next(r) | rt_next(r);
	default:
		return word;
	}
}

static size_t naive_find(const uint64_t *words, size_t size, size_t n, size_t alignment,
			 size_t offset)
{
	for (size_t first = 0; first + n <= size; first++) {
		size_t i = 0;

		if ((first - offset) % alignment != 0)
			continue;
		while (i < n && bit_at(words, first + i))
			i++;
		if (i == n)
			return first;
	}
	return BITS_NONE;
}

TEST(bits_find_random, 60)
{
	size_t rounds = rt_under_qemu() ? 20000 : 300000, found = 0;
	struct rt_random random;

	rt_seed(&random, rt_test_seed());
	for (size_t i = 0; i < rounds; i++) {
		uint64_t words[WORDS];
		size_t size = 1 + rt_below(&random, BITS), n, alignment, offset, first;

		for (size_t w = 0; w < WORDS; w++)
			words[w] = random_word(&random);
		/* Beyond its size a bitmap has no free bits. */
		for (size_t b = size; b < BITS; b++)
			words[b / 64] &= ~((uint64_t)1 << (b % 64));
		n = 1 + rt_below(&random, (uint64_t)1 << rt_below(&random, 9));
		alignment = (size_t)1 << rt_below(&random, 8);
		offset = rt_next(&random);
		first = naive_find(words, size, n, alignment, offset);
		found += first != BITS_NONE;
		CHECK_EQ(bits_find(words, size, n, alignment, offset), first);
	}
	/* A test that never finds anything would prove little. */
	CHECK(found > rounds / 10 && found < rounds);
}

/* Claim: all of the run or nothing; release and clear: the run and nothing else. */
TEST(bits_claim_random, 60)
{
	size_t rounds = rt_under_qemu() ? 20000 : 300000, claimed = 0;
	struct rt_random random;

	rt_seed(&random, rt_test_seed());
	for (size_t i = 0; i < rounds; i++) {
		uint64_t words[WORDS], before[WORDS];
		size_t n = 1 + rt_below(&random, (uint64_t)1 << rt_below(&random, 9));
		size_t first = rt_below(&random, BITS - n + 1);
		unsigned what = (unsigned)rt_below(&random, 3);
		bool all = true, done;

		for (size_t w = 0; w < WORDS; w++)
			before[w] = words[w] = random_word(&random);
		if (rt_below(&random, 2) != 0) {
			bits_release(before, first, n);
			memcpy(words, before, sizeof(words));
		}
		for (size_t b = first; b < first + n; b++)
			all = all && bit_at(before, b);
		CHECK_EQ(bits_all(words, first, n), all);
		if (what == 0) {
			done = bits_claim(words, first, n);
			CHECK_EQ(done, all);
			claimed += done;
		} else if (what == 1) {
			bits_release(words, first, n);
		} else {
			bits_clear(words, first, n);
		}
		for (size_t b = 0; b < BITS; b++) {
			bool inside = b >= first && b < first + n, is = bit_at(before, b);

			if (inside && what == 0 && all)
				is = false;
			else if (inside && what != 0)
				is = what == 1;
			CHECK_EQ(bit_at(words, b), is);
		}
	}
	CHECK(claimed > rounds / 20);
}

TEST(bits_runs_of_words, 30)
{
	size_t rounds = rt_under_qemu() ? 1000 : 20000;
	struct rt_random random;

	rt_seed(&random, rt_test_seed());
	for (size_t i = 0; i < rounds; i++) {
		uint64_t word = i == 0 ? 0 : random_word(&random);
		unsigned longest = 0;

		for (unsigned n = 1; n <= 64; n++) {
			uint64_t runs = 0;

			for (unsigned first = 0; first + n <= 64; first++)
				if ((word & bits_run(first, n)) == bits_run(first, n))
					runs |= (uint64_t)1 << first;
			CHECK_EQ(bits_starts(word, n), runs);
			if (runs != 0)
				longest = n;
		}
		CHECK_EQ(bits_longest(word), longest);
	}
	CHECK_EQ(bits_longest(~(uint64_t)0), 64);
}

TEST(bits_words_random, 30)
{
	struct rt_random random;

	rt_seed(&random, rt_test_seed());
	for (unsigned first = 0; first < 64; first++)
		for (unsigned n = 1; n <= 64 - first; n++)
			for (unsigned b = 0; b < 64; b++)
				CHECK_EQ(bits_run(first, n) >> b & 1, b >= first && b < first + n);
	for (size_t i = 0; i < 20000; i++) {
		uint64_t word = random_word(&random);
		unsigned count = 0, low = 64, high = 64;

		for (unsigned b = 0; b < 64; b++)
			if (word >> b & 1) {
				count++;
				high = b;
				low = low == 64 ? b : low;
			}
		CHECK_EQ(bits_count(word), count);
		if (word == 0)
			continue;
		CHECK_EQ(bits_lowest(word), low);
		CHECK_EQ(bits_highest(word), high);
		CHECK_EQ(bits_without_lowest(word), word ^ (uint64_t)1 << low);
	}
	CHECK_EQ(bits_words(0), 0);
	CHECK_EQ(bits_words(1), 1);
	CHECK_EQ(bits_words(64), 1);
	CHECK_EQ(bits_words(65), 2);
}

/* SPDX-License-Identifier: MIT */
#include "base/bits.h"

#include "atomic.h"

/* The part of the run [first, first + n) that lies in its first word. */
struct bits_part {
	size_t word;
	uint64_t mask;
	size_t bits;
};

static struct bits_part bits_part_of(size_t first, size_t n)
{
	unsigned low = (unsigned)(first % 64);
	size_t bits = 64 - low < n ? 64 - low : n;
	struct bits_part p = {first / 64, bits_run(low, (unsigned)bits), bits};

	return p;
}

unsigned bits_count(uint64_t x)
{
	unsigned n = 0;

	for (; x != 0; x = bits_without_lowest(x))
		n++;
	return n;
}

/* The first set bit from `at` on; not less than size: there is none. */
static size_t bits_next(const uint64_t *words, size_t size, size_t at)
{
	for (; at < size; at = (at | 63) + 1) {
		uint64_t word = load_relaxed(&words[at / 64]) >> (at % 64);

		if (word != 0)
			return at + bits_lowest(word);
	}
	return at;
}

size_t bits_find(const uint64_t *words, size_t size, size_t n, size_t alignment, size_t offset)
{
	size_t first = offset & (alignment - 1);

	while (first <= size && n <= size - first) {
		size_t i, last_hole = BITS_NONE;

		/* Search backwards: the last hole of the run allows the longest skip. */
		for (i = n; i-- > 0;) {
			size_t at = first + i;
			uint64_t word = load_relaxed(&words[at / 64]);

			if (word == ~(uint64_t)0) {
				/* All 64 bits are set: skip the word. */
				size_t below = at % 64;
				i = i > below ? i - below : 0;
				continue;
			}
			if (!((word >> (at % 64)) & 1)) {
				last_hole = at;
				break;
			}
		}
		if (last_hole == BITS_NONE)
			return first;
		first = bits_next(words, size, last_hole + 1);
		first += (offset - first) & (alignment - 1);
	}
	return BITS_NONE;
}

bool bits_claim(uint64_t *words, size_t first, size_t n)
{
	size_t at = first, left = n;

	while (left > 0) {
		struct bits_part p = bits_part_of(at, left);
		uint64_t word = load_relaxed(&words[p.word]);

		do {
			if ((word & p.mask) != p.mask) {
				if (at > first)
					bits_release(words, first, at - first);
				return false;
			}
			/* Pairs with bits_release: the last user is done with the chunk. */
		} while (!cas_acquire(&words[p.word], &word, word & ~p.mask));
		at += p.bits;
		left -= p.bits;
	}
	return true;
}

static void change(uint64_t *words, size_t first, size_t n, bool set)
{
	while (n > 0) {
		struct bits_part p = bits_part_of(first, n);

		if (set)
			fetch_or_release(&words[p.word], p.mask); /* pairs with bits_claim */
		else
			fetch_and_acq_rel(&words[p.word], ~p.mask);
		first += p.bits;
		n -= p.bits;
	}
}

void bits_release(uint64_t *words, size_t first, size_t n)
{
	change(words, first, n, true);
}

void bits_clear(uint64_t *words, size_t first, size_t n)
{
	change(words, first, n, false);
}

size_t bits_unset(const uint64_t *words, size_t first, size_t n)
{
	size_t unset = 0;

	while (n > 0) {
		struct bits_part p = bits_part_of(first, n);

		unset += bits_count(p.mask & ~load_acquire(&words[p.word]));
		first += p.bits;
		n -= p.bits;
	}
	return unset;
}

bool bits_all(const uint64_t *words, size_t first, size_t n)
{
	return bits_unset(words, first, n) == 0;
}

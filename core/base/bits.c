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

size_t bits_find(const uint64_t *words, size_t size, size_t n, size_t alignment, size_t offset)
{
	size_t first = offset & (alignment - 1), at = first; /* all bits from first to at are set */

	while (first <= size && n <= size - first) {
		uint64_t word = load_relaxed(&words[at / 64]) >> (at % 64), set = word & 1;

		/*
		 * Skip all bits equal to the first; the bits shifted in end them at the word's end at the
		 * latest.
		 */
		if (set)
			word = ~word;
		at += word == 0 ? 64 - at % 64 : bits_lowest(word);
		if (!set) {
			at += (offset - at) & (alignment - 1);
			first = at;
		} else if (at - first >= n) {
			return first;
		}
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

/* SPDX-License-Identifier: MIT */
#include "arena/arena.h"

#define ONES (~(uintptr_t)0 / 255)
#define HIGH (ONES << 7)

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte of a group is its lowest");

static ALWAYS_INLINE uintptr_t *group_words(const struct arena *a)
{
	return (uintptr_t *)(uintptr_t)&a->words[a->word_count];
}

/*
 * Raises byte i to n, or lowers it to n if `lower`; returns false if the byte is already that large, or that
 * small.  By compare-and-swap, because no byte may go the other way: byte_raise ends where a byte is large
 * enough, and so are the bytes above it.
 */
static bool byte_set(struct arena *a, size_t i, size_t n, bool lower)
{
	uintptr_t *group = &group_words(a)[i / SUMMARY_FAN], old = load_seq_cst(group), is; /* pairs with the cas_seq_cst below */
	unsigned shift = i % SUMMARY_FAN * 8;

	do {
		is = old >> shift & SUMMARY_MOST;
		if (lower ? is <= n : is >= n)
			return false;
	} while (!cas_seq_cst(group, &old, old ^ (is ^ n) << shift)); /* pairs with not_below and with itself */
	return true;
}

static void byte_raise(struct arena *a, size_t i, size_t n)
{
	while (byte_set(a, i, n, false) && i >= SUMMARY_FAN)
		i = i / SUMMARY_FAN - 1;
}

/*
 * Returns bit 7 of each byte of a group that is at least n, where least is n * ONES: no byte borrows from the
 * next.  Pairs with byte_set.
 */
static ALWAYS_INLINE uintptr_t not_below(const uintptr_t *group, uintptr_t least)
{
	return ((load_seq_cst(group) | HIGH) - least) & HIGH;
}

size_t summary_find(struct arena *a, size_t i, size_t n)
{
	uintptr_t *groups = group_words(a), least = n * ONES, within = HIGH << i % SUMMARY_FAN * 8;
	size_t g = i / SUMMARY_FAN;

	for (;;) {
		uintptr_t found = not_below(&groups[g], least) & within;

		if (found != 0) {
			i = g * SUMMARY_FAN + bits_lowest(found) / 8;
			if (i >= a->leaves)
				return i - a->leaves;
			g = i + 1;
			within = ~(uintptr_t)0;
			continue;
		}
		do {
			if (g == 0)
				return BITS_NONE;
			/* The byte above promised a run, and all of the group was looked at. */
			if (within + 1 == 0) {
				summary_enter(a);
				(void)byte_set(a, g - 1, n - 1, true);
				if (unlikely(not_below(&groups[g], least) != 0))
					byte_raise(a, g - 1, SUMMARY_MOST);
				summary_leave(a);
			}
			within = 0;
			i = g;
			g = (g - 1) / SUMMARY_FAN;
		} while (i % SUMMARY_FAN == 0);
		/* Go on behind the byte of that group. */
		within = ~(uintptr_t)0 << i % SUMMARY_FAN * 8;
	}
}

/*
 * Returns the length, as far as leaves count, of a run of which n granules are known, and which goes on at
 * granule `end` if that is free.
 */
static size_t run_length(const struct arena *a, size_t n, size_t end)
{
	while (n < SUMMARY_MOST && end / ARENA_WORD < a->word_count) {
		uintptr_t word = load_seq_cst(&a->words[end / ARENA_WORD]);
		unsigned more = bits_lowest(~(arena_free(word) >> end % ARENA_WORD));

		n += more;
		end += more;
		if (more == 0 || end % ARENA_WORD != 0)
			break;
	}
	return n < SUMMARY_MOST ? n : SUMMARY_MOST;
}

/* Returns how many granules of the run at the end of a word, with these free granules, lie in the word. */
static ALWAYS_INLINE unsigned last_run(uintptr_t free)
{
	uintptr_t taken = free ^ ARENA_BODY;

	return taken == 0 ? ARENA_WORD : ARENA_WORD - 1 - bits_highest(taken);
}

size_t summary_run(const struct arena *a, size_t w, size_t n)
{
	uintptr_t free = arena_free(load_seq_cst(&a->words[w])), starts = free;
	size_t k, end = (w + 1) * ARENA_WORD;

	for (k = n <= ARENA_WORD ? n : 0; k > 1; k -= k / 2)
		starts &= starts >> k / 2;
	if (starts != 0 && k != 0)
		return w * ARENA_WORD + bits_lowest(starts);
	k = last_run(free);
	return run_length(a, k, end) >= n ? end - k : BITS_NONE;
}

void summary_lower(struct arena *a, size_t w)
{
	uintptr_t word = load_seq_cst(&a->words[w]), free = arena_free(word);
	unsigned last = last_run(free);
	size_t n = 0, end;

	for (free &= ARENA_BODY >> last; free != 0; n++)
		free &= free >> 1;
	if (last != 0) {
		end = run_length(a, last, (w + 1) * ARENA_WORD);
		n = n > end ? n : end;
	}
	summary_enter(a);
	/* A thread that released a run at the same time may have found the byte before it was lowered. */
	if (byte_set(a, a->leaves + w, n, true) && (load_seq_cst(&a->words[w]) != word || (last != 0 && summary_run(a, w, n + 1) != BITS_NONE)))
		byte_raise(a, a->leaves + w, SUMMARY_MOST);
	summary_leave(a);
}

void summary_taking(struct arena *a, size_t end)
{
	if (end < a->granules)
		byte_raise(a, a->leaves + end / ARENA_WORD, run_length(a, 0, end));
}

void summary_raise(struct arena *a, size_t w, size_t n)
{
	byte_raise(a, a->leaves + w, n);
}

void summary_released(struct arena *a, size_t first, size_t end)
{
	size_t w = first / ARENA_WORD, far = SUMMARY_MOST / ARENA_WORD + 1, at;
	uintptr_t group, taken = ~arena_free(load_seq_cst(&a->words[w])) & (((uintptr_t)1 << first % ARENA_WORD) - 1);

	/* Find where the run begins, or a place so far below that the beginning does not matter. */
	for (; taken == 0 && w > 0 && far > 0; w--, far--) {
		taken = ~arena_free(load_seq_cst(&a->words[w - 1])) & ARENA_BODY;
		if (taken >> (ARENA_WORD - 1) != 0) {
			taken = 0;
			break;
		}
	}
	first = w * ARENA_WORD + (taken == 0 ? 0 : bits_highest(taken) + 1);
	at = a->leaves + w;
	group = load_seq_cst(&group_words(a)[at / SUMMARY_FAN]); /* pairs with byte_set, of which this is the test */
	if ((group >> at % SUMMARY_FAN * 8 & SUMMARY_MOST) == SUMMARY_MOST)
		return;
	byte_raise(a, a->leaves + w, run_length(a, end - first, end));
}

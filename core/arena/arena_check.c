/* SPDX-License-Identifier: MIT */
#include "arena/arena_check.h"

/* I11: no FURTHER in word w follows a free granule. */
static bool follows(const struct arena *a, size_t w)
{
	unsigned i;

	/*
	 * A run that is taken or released between the two loads seems to violate the
	 * invariant; that does not happen 64 times in a row.
	 */
	for (i = 0; i < 64; i++) {
		/* The upper word first, as taking proceeds upwards.  Pairs with run_part_take. */
		uintptr_t word = load_acquire(&a->words[w]);
		uintptr_t below = w == 0 ? 0 : load_acquire(&a->words[w - 1]);
		uintptr_t before = arena_free(word) << 1 | (arena_free(below) >> (ARENA_WORD - 1));

		if (w == 0)
			before |= 1; /* granule 0 has nothing below it */
		if ((arena_further(word) & before) == 0)
			return true;
	}
	return false;
}

int arena_check(const struct arena *a)
{
	size_t w, beyond = a->word_count * ARENA_WORD - a->granules, in_last = beyond % ARENA_WORD;

	for (w = 0; w < a->word_count; w++)
		if (!follows(a, w))
			return 11;
	if (in_last > 0) {
		uintptr_t tail = arena_run((unsigned)(ARENA_WORD - in_last), (unsigned)in_last);

		if ((arena_held(load_relaxed(&a->words[w - 1])) & tail) != tail)
			return 12;
	}
	return 0;
}

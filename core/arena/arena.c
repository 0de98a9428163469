/* SPDX-License-Identifier: MIT */
/* The facts about a block that the words of an arena hold. */
#include "arena/arena.h"
#include "memory.h"

size_t arena_begin(const struct arena *a, size_t at)
{
	while (at > 0 &&
	       ((arena_further(load_acquire(&a->words[at / ARENA_WORD])) >> (at % ARENA_WORD)) & 1))
		at--;
	return at;
}

size_t arena_bytes(const struct arena *a, const void *p)
{
	size_t first = arena_index(a, p);
	uintptr_t word = load_acquire(&a->words[first / ARENA_WORD]); /* pairs with run_take */

	if ((uintptr_t)p % GRANULE != 0 || ((arena_first(word) >> (first % ARENA_WORD)) & 1) == 0)
		return 0;
	return arena_length(a, first) * GRANULE;
}

void arena_set_up(struct arena *a, uintptr_t begin, uintptr_t end)
{
	/* The bytes of a word, without and with its granules. */
	const size_t word = sizeof a->words[0], piece = word + ARENA_WORD * GRANULE;
	size_t beyond, groups, room = end - (uintptr_t)a - sizeof *a;
	uintptr_t base;

	memset(a, 0, sizeof *a);
	groups = summary_groups((room + piece - 1) / piece);
	a->word_count = (room - groups * word + piece - 1) / piece;
	base = ((uintptr_t)&a->words[a->word_count + groups] + GRANULE - 1) & ~(uintptr_t)(GRANULE - 1);
	a->base = (char *)base;
	a->granules = (end - base) / GRANULE;
	a->memory = begin;
	a->sharing = PAGES_CALLERS;
	memset(a->words, 0, (a->word_count + groups) * word);
	/* Rounding the base up may have cost the last word all of its granules. */
	a->word_count = arena_words(a->granules);
	a->leaves = summary_leaves(a->word_count);
	beyond = a->word_count * ARENA_WORD - a->granules;
	if (beyond > 0)
		a->words[a->word_count - 1] =
			arena_run(ARENA_WORD - (unsigned)beyond, (unsigned)beyond) << ARENA_WORD;
	summary_released(a, 0, 0);
}

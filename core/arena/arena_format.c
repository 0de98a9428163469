/* SPDX-License-Identifier: MIT */
#include "arena/arena_format.h"

#include "arena/summary.h"
#include "memory.h"

void arena_set_up(struct arena *a, uintptr_t begin, uintptr_t end)
{
	/* The bytes of a word; the same with its granules. */
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

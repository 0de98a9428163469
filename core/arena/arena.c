/* SPDX-License-Identifier: MIT */
/* What the words of an arena say of a block. */
#include "arena/arena.h"

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

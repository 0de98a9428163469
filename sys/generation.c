/* SPDX-License-Identifier: MIT */
#include "generation.h"

#include "atomic.h"
#include "pages.h"
#include "process.h"

/*
 * The page that fork wipes holds the generation, and the number of the process
 * that entered it there, for where fork does not wipe.
 */
#define NUMBER_BITS 22
#define NUMBER_MASK (((uint64_t)1 << NUMBER_BITS) - 1)
_Static_assert(GENERATION_BITS + NUMBER_BITS <= 64, "one word");

static uint64_t *watch;
/* No less than the generation that any thread of this process or an ancestor was ever told. */
static uint64_t told;

static uint64_t entry(uint64_t generation)
{
	return generation << NUMBER_BITS | (process_number() & NUMBER_MASK);
}

bool generation_is_watched(void)
{
	return load_acquire(&watch) != NULL;
}

void generation_watch(void)
{
	uint64_t *mark, none = 0;

	if (generation_is_watched())
		return;
	mark = process_mark();
	if (mark == NULL)
		return;
	store_relaxed(mark, entry(load_relaxed(&told)));
	/* Pairs with the loads of watch: the page has been marked. */
	if (!cas_acq_rel((uint64_t *)(void *)&watch, &none, (uint64_t)(uintptr_t)mark))
		(void)pages_release(mark, PAGE_SIZE);
}

static bool entry_is_old(uint64_t word)
{
	return word == 0 || (!process_mark_is_wiped() &&
			     (word & NUMBER_MASK) != (process_number() & NUMBER_MASK));
}

uint64_t generation_now(void)
{
	uint64_t *mark = load_acquire(&watch), word, known, generation;

	if (mark == NULL)
		return 0;
	word = load_acquire(mark);
	if (entry_is_old(word)) {
		/* Who loses to another thread of this process is told what that one entered. */
		uint64_t next = entry(load_acquire(&told) + 1);

		if (cas_acq_rel(mark, &word, next))
			word = next;
	}
	generation = word >> NUMBER_BITS;
	/*
	 * Before anybody acts on it: a child forked from here on has the mark
	 * wiped, and counts on from `told`.
	 */
	known = load_acquire(&told);
	while (known < generation && !cas_acq_rel(&told, &known, generation))
		;
	return generation;
}

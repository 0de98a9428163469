/* SPDX-License-Identifier: MIT */
#include "generation.h"

#include "atomic.h"
#include "pages.h"
#include "process.h"

/*
 * The page that fork wipes holds the generation, and the number of the process
 * that entered it there, for where fork does not wipe.
 */
#define PROCESS_BITS 22
#define PROCESS_MASK (((uint64_t)1 << PROCESS_BITS) - 1)
_Static_assert(GENERATION_BITS + PROCESS_BITS <= 64, "one word");

static uint64_t *generation_mark;
/* No less than the generation that any thread of this process or an ancestor was ever told. */
static uint64_t told;

static uint64_t generation_entry(uint64_t generation)
{
	return generation << PROCESS_BITS | (process_number() & PROCESS_MASK);
}

bool generation_is_watched(void)
{
	return load_acquire(&generation_mark) != NULL;
}

void generation_watch(void)
{
	uint64_t *mark, none = 0;

	if (generation_is_watched())
		return;
	mark = process_mark();
	if (mark == NULL)
		return;
	store_relaxed(mark, generation_entry(load_relaxed(&told)));
	/* Pairs with the loads of generation_mark: the page has been marked. */
	if (!cas_acq_rel((uint64_t *)(void *)&generation_mark, &none, (uint64_t)(uintptr_t)mark))
		(void)pages_release(mark, PAGE_SIZE);
}

static bool entry_is_old(uint64_t word)
{
	return word == 0 || (!process_mark_is_wiped() &&
			     (word & PROCESS_MASK) != (process_number() & PROCESS_MASK));
}

uint64_t generation_now(void)
{
	uint64_t *mark = load_acquire(&generation_mark), word, known, generation;

	if (mark == NULL)
		return 0;
	word = load_acquire(mark);
	if (entry_is_old(word)) {
		/* Who loses to another thread of this process is told what that one entered. */
		uint64_t next = generation_entry(load_acquire(&told) + 1);

		if (cas_acq_rel(mark, &word, next))
			word = next;
	}
	generation = word >> PROCESS_BITS;
	/*
	 * Before anybody acts on it: a child forked from here on has the mark
	 * wiped, and counts on from `told`.
	 */
	known = load_acquire(&told);
	while (known < generation && !cas_acq_rel(&told, &known, generation))
		;
	return generation;
}

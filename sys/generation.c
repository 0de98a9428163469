/* SPDX-License-Identifier: MIT */
#include "generation.h"

#include "atomic.h"
#include "pages.h"
#include "process.h"

/*
 * A fork mark (process.h) holds the generation and the number of the process that stored it.  The number is needed if
 * the kernel does not wipe the mark's page.
 */
#define PROCESS_BITS 23
#define PROCESS_MASK (((uint64_t)1 << PROCESS_BITS) - 1)
_Static_assert(PROCESS_UNKNOWN <= PROCESS_MASK, "in an entry, too");
_Static_assert(GENERATION_BITS + PROCESS_BITS <= 64, "one word");

INTERNAL uint64_t *generation_mark;
/* At least as large as each generation so far in this process or its ancestors; does not wrap around. */
static uint64_t told;

static uint64_t generation_entry(uint64_t generation)
{
	return generation << PROCESS_BITS | (process_mark_number() & PROCESS_MASK);
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
	/* Pairs with the loads of generation_mark: the page is marked. */
	if (!cas_acq_rel((uint64_t *)(void *)&generation_mark, &none, (uint64_t)(uintptr_t)mark))
		(void)pages_release(mark, PAGE_MOST);
}

uint64_t generation_now(void)
{
	uint64_t *mark = load_acquire(&generation_mark), word, known, generation;

	if (mark == NULL)
		return 0;
	/* Acquire pairs with the compare-and-swap below: `told` is at least the number from which that thread counted. */
	word = load_acquire(mark);
	if (process_mark_is_old(word & PROCESS_MASK)) {
		/* If another thread was first, the failed CAS loads that thread's entry into `word`. */
		uint64_t next = generation_entry(load_acquire(&told) + 1);

		if (cas_acq_rel(mark, &word, next))
			word = next;
	}
	generation = word >> PROCESS_BITS;
	/*
	 * `told` is raised before the generation is used: in a child forked from here on the mark is wiped, and the
	 * child counts on from `told`.  Only this thread needs that order, and a fork copies all its earlier stores
	 * in program order; acquire and release pair with these operations of other threads.
	 */
	known = load_acquire(&told);
	while (known < generation && !cas_acq_rel(&told, &known, generation))
		;
	return generation & (((uint64_t)1 << GENERATION_BITS) - 1);
}

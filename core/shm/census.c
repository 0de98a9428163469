/* SPDX-License-Identifier: MIT */
#include "shm/census.h"

#include "shm/lives.h"

bool census_is_over(struct store *s, unsigned i, uint64_t word)
{
	if ((word & CENSUS_OVER) != 0 || word == 0)
		return word != 0;
	if (!lives_process_is_over(s, word))
		return false;
	(void)cas_acq_rel(&s->census[i], &word, word | CENSUS_OVER);
	return true;
}

bool census_is_held(struct store *s, uint64_t tag)
{
	const struct owner *o;

	for (o = load_acquire(&s->heap.owners); o != NULL; o = o->next)
		if (load_acquire(&o->state) != OWNER_VACANT && load_relaxed(&truth_of(o)->census) == tag)
			return true;
	return false;
}

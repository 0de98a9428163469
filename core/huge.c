/* SPDX-License-Identifier: MIT */
#include "huge.h"

#define HUGE_FROM   ((size_t)4 << 20)
#define HUGE_CHUNKS 16 /* so many chunks of slabs: one more is a sixteenth at stake */

enum advice huge_policy(const struct heap *h, enum huge_use use, size_t bytes)
{
	enum ash_huge option = h->options->huge;

	if (option != ASH_HUGE_DEFAULT)
		return option == ASH_HUGE_NEVER ? ADVICE_PLAIN : ADVICE_HUGE;
	if (use == HUGE_SLABS && load_relaxed(&h->slab_chunks) >= HUGE_CHUNKS)
		return ADVICE_HUGE;
	if (bytes < HUGE_FROM) /* 0 for slabs */
		return ADVICE_NONE;
	return use == HUGE_FILLED ? ADVICE_HUGE : ADVICE_PLAIN;
}

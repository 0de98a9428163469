/* SPDX-License-Identifier: MIT */
#include "backend/huge.h"

#define HUGE_FROM   ((size_t)32 << 20) /* a huge page is a sixteenth of such a span */
#define PLAIN_FROM  ((size_t)4 << 20)
#define HUGE_CHUNKS 24 /* of slabs: a huge page adds a 24th at most */

enum advice huge_policy(const struct heap *h, enum huge_use use, size_t bytes)
{
	enum ash_huge option = h->options->huge;

	if (SMALL)
		return ADVICE_NONE;
	if (option != ASH_HUGE_DEFAULT)
		return option == ASH_HUGE_NEVER ? ADVICE_PLAIN : ADVICE_HUGE;
	/* With larger pages a huge one is 32 MiB or more: the kernel decides. */
	if (PAGE_SIZE > PAGE_LEAST)
		return ADVICE_NONE;
	if (use == HUGE_SLABS && load_relaxed(&h->slab_chunks) >= HUGE_CHUNKS)
		return ADVICE_HUGE;
	if (use == HUGE_FILLED && bytes >= HUGE_FROM)
		return ADVICE_HUGE;
	if (use == HUGE_ZEROED && bytes >= PLAIN_FROM) /* whether they come unasked is not asked */
		return ADVICE_PLAIN;
	return ADVICE_NONE;
}

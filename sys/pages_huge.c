/* SPDX-License-Identifier: MIT */
/* Transparent huge pages. */
#include "atomic.h"
#include "pages.h"
#include "syscall.h"

enum { MADV_HUGEPAGE = 14, MADV_NOHUGEPAGE = 15 };

#define HUGE ((size_t)1 << 21) /* where pages are 4 KiB; the others are not asked about */

bool pages_huge(void *p, size_t bytes, bool wanted)
{
	return arch_madvise(p, bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0;
}

/* Writes one byte: if a page far from it is resident then, the kernel used a huge page. */
static bool comes_unasked(char *p)
{
	*(volatile char *)p = 1;
	return pages_there(p + HUGE / 2);
}

bool pages_huge_unasked(void)
{
	enum { UNKNOWN, YES, NO };
	static unsigned char verdict;
	unsigned char known = load_relaxed(&verdict);
	char *p;

	if (known == UNKNOWN) {
		p = pages_reserve(HUGE, HUGE, PAGES_PRIVATE);
		if (p == NULL)
			return true; /* probed again at the next call */
		known = comes_unasked(p) ? YES : NO;
		(void)pages_release(p, HUGE);
		/* Two threads may both probe; their results are equal. */
		store_relaxed(&verdict, known);
	}
	return known == YES;
}

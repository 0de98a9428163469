/* SPDX-License-Identifier: MIT */
/* Transparent huge pages. */
#include "atomic.h"
#include "pages.h"
#include "syscall.h"

enum { MADV_HUGEPAGE = 14, MADV_NOHUGEPAGE = 15 };

bool pages_huge(void *p, size_t bytes, bool wanted)
{
	return arch_madvise(p, bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0;
}

/* One byte was written: if a page far from it is resident then, the kernel used a huge page. */
static bool comes_if_asked(volatile char *p, enum sharing sharing)
{
	(void)sharing;
	return !pages_there((char *)p + PAGE_HUGE / 2);
}

bool pages_huge_unasked(void)
{
	static unsigned char verdict;

	return !pages_probe(&verdict, PAGE_HUGE, PAGES_PRIVATE, comes_if_asked);
}

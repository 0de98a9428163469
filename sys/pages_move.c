/* SPDX-License-Identifier: MIT */
/* Moves contents to another range, by remapping pages or by copying. */
#include "atomic.h"
#include "back.h"
#include "kernel.h"
#include "memory.h"
#include "pages.h"
#include "syscall.h"

enum { MREMAP_MAYMOVE = 1, MREMAP_FIXED = 2, MREMAP_DONTUNMAP = 4 };

static long move(void *from, void *to, size_t bytes)
{
	/* DONTUNMAP, because otherwise another thread's mmap could take the old range. */
	return back_mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
			   to);
}

/*
 * QEMU 7.2 moves the pages, but then treats the old range as unmapped: a later mmap gets the addresses, and madvise
 * there has no effect.  With reserved addresses (-R) a touch faults, but a wish for a mapping there succeeds.
 */
static enum probe keeps_range(volatile char *page, enum sharing sharing)
{
	char *p = (char *)page;
	long r = move(p, p + PAGE_SIZE, PAGE_SIZE);

	if (r != (long)(p + PAGE_SIZE)) /* a limit was reached, or the call is missing, or a filter denies it */
		return r == -ENOMEM || r == -EAGAIN ? PROBE_UNKNOWN : PROBE_NO;
	r = arch_mmap(p, PAGE_SIZE, PROT_READ_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r == (long)p)
		return PROBE_NO;
	if (r < 0 && r >= -4095)
		return PROBE_UNKNOWN;
	(void)pages_release((void *)r, PAGE_SIZE); /* NOLINT: the kernel's word is an address */
	if (*page != 0)
		return PROBE_NO;
	*page = 1;
	return pages_purge(p, PAGE_SIZE, sharing) && *page == 0 ? PROBE_YES : PROBE_NO;
}

/*
 * mremap must not move a range of several mappings: Linux 6.17 moves them individually and may stop at the limit of
 * mappings; earlier kernels unmap the target and then refuse.  An attempt to grow detects the case: growing fails
 * with EFAULT for several mappings, and with ENOMEM for a single mapping without room behind it.
 */
static bool in_one_mapping(char *p, size_t bytes)
{
	long r = arch_mremap(p, bytes, bytes + PAGE_SIZE, 0, NULL);

	if (r == (long)p)
		(void)pages_release(p + bytes, PAGE_SIZE); /* undo the growth */
	return r == (long)p || r == -ENOMEM; /* EAGAIN: locked memory, which is copied */
}

/*
 * The kernel unmaps the target of a move before the check of the limits of mappings, addresses and data.  So the
 * limits are tried before, on the target's first page, which moves to a place that the kernel chooses: that unmaps
 * nothing.
 */
static bool limits_allow(void *to)
{
	long r = back_mremap(to, PAGE_SIZE, PAGE_SIZE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);

	if (r < 0 && r >= -4095)
		return false;
	(void)pages_release((void *)r, PAGE_SIZE); /* NOLINT: the kernel's word is an address */
	return true;
}

enum moved pages_remap(void *from, void *to, size_t bytes)
{
	static unsigned char verdict;

	if (!pages_probe(&verdict, 2 * PAGE_SIZE, PAGES_PRIVATE, keeps_range) ||
	    !in_one_mapping(from, bytes))
		return PAGES_STAYED;
	back_forget(to, bytes);
	if (!limits_allow(to))
		return PAGES_STAYED;
	if (move(from, to, bytes) == (long)to)
		return PAGES_MOVED;
	/*
	 * There was no memory for page tables, or a filter refused, or other threads just reached a limit.  If the
	 * target was unmapped, another thread's mmap may already have its addresses.
	 */
	store_relaxed(&verdict, (unsigned char)PROBE_NO);
	return PAGES_LOST;
}

enum moved pages_move(void *from, void *to, size_t bytes)
{
	size_t whole = (bytes + PAGE_HUGE - 1) & ~(PAGE_HUGE - 1), half;
	/* The whole range in a single call; if that is impossible, each half. */
	enum moved moved = pages_remap(from, to, whole), rest;

	if (moved != PAGES_STAYED)
		return moved;
	half = (whole / 2 + PAGE_HUGE - 1) & ~(PAGE_HUGE - 1);
	if (half == whole) {
		memcpy(to, from, bytes);
		return moved;
	}
	moved = pages_move(from, to, half);
	if (moved == PAGES_LOST)
		return moved;
	rest = pages_move((char *)from + half, (char *)to + half, bytes - half);
	if (rest == PAGES_LOST)
		memcpy(from, to, half);
	return rest == moved || rest == PAGES_LOST ? rest : PAGES_STAYED;
}

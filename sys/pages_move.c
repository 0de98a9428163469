/* SPDX-License-Identifier: MIT */
/* Contents that move to another range: by remapping pages, or by copying. */
#include "atomic.h"
#include "kernel.h"
#include "memory.h"
#include "pages.h"
#include "syscall.h"

enum { MAP_FIXED = 0x10, MREMAP_MAYMOVE = 1, MREMAP_FIXED = 2, MREMAP_DONTUNMAP = 4 };

static long move(void *from, void *to, size_t bytes)
{
	/* DONTUNMAP: otherwise another thread's mmap could take the old range. */
	return arch_mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
			   to);
}

/*
 * QEMU 7.2 moves the pages, but then treats the old range as unmapped: it gives
 * the addresses to the next mmap, and madvise there has no effect.  mincore
 * reports such a range as unmapped.
 */
static bool keeps_range(volatile char *page, enum sharing sharing)
{
	unsigned char there[PAGE_PARTS];
	char *p = (char *)page;

	(void)sharing;
	return move(p, p + PAGE_SIZE, PAGE_SIZE) == (long)(p + PAGE_SIZE) &&
	       arch_mincore(p, PAGE_SIZE, there) == 0 && *page == 0;
}

/*
 * A range of several mappings must not be moved by mremap: Linux 6.17 moves them
 * one by one and may stop at the limit of mappings; earlier kernels unmap the
 * target and then refuse.  Growing detects the case: it fails with EFAULT for
 * several mappings, and with ENOMEM for one mapping without room behind it.
 */
static bool in_one_mapping(char *p, size_t bytes)
{
	long r = arch_mremap(p, bytes, bytes + PAGE_SIZE, 0, NULL);

	if (r == (long)p)
		(void)pages_release(p + bytes, PAGE_SIZE); /* undo the growth */
	return r == (long)p || r == -ENOMEM; /* EAGAIN: locked memory, which is copied */
}

/* False: nothing was moved, and the target is mapped. */
static bool move_run(char *from, char *to, size_t bytes)
{
	unsigned char there[PAGE_PARTS];

	if (!in_one_mapping(from, bytes))
		return false;
	if (move(from, to, bytes) == (long)to)
		return true;
	/*
	 * The kernel may refuse after unmapping the whole target.  Then there is room
	 * for one more mapping; if there is none, the copy that follows faults.
	 */
	if (arch_mincore(to, PAGE_SIZE, there) == -ENOMEM)
		(void)arch_mmap(to, bytes, PROT_READ_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	return false;
}

bool pages_remap(void *from, void *to, size_t bytes)
{
	static unsigned char verdict;

	return pages_probe(&verdict, 2 * PAGE_SIZE, PAGES_PRIVATE, keeps_range) &&
	       move_run(from, to, bytes);
}

void pages_move(void *from, void *to, size_t bytes)
{
	size_t whole = (bytes + PAGE_HUGE - 1) & ~(PAGE_HUGE - 1), half;

	/* The whole range in one call; if that is impossible, each half. */
	if (pages_remap(from, to, whole))
		return;
	half = (whole / 2 + PAGE_HUGE - 1) & ~(PAGE_HUGE - 1);
	if (half == whole) {
		memcpy(to, from, bytes);
		return;
	}
	pages_move(from, to, half);
	pages_move((char *)from + half, (char *)to + half, bytes - half);
}

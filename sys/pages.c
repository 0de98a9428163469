/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <stdint.h>

#include "atomic.h"
#include "kernel.h"
#include "memory.h"
#include "panic.h"
#include "syscall.h"

/* Constants of the kernel's interface: there are no system headers here. */
enum {
	MAP_PRIVATE = 0x02,
	MAP_FIXED = 0x10,
	MADV_NORMAL = 0,
	MADV_DONTNEED = 4,
	MADV_REMOVE = 9,
	MADV_POPULATE_WRITE = 23,
	MREMAP_MAYMOVE = 1,
	MREMAP_FIXED = 2,
	MREMAP_DONTUNMAP = 4
};
enum { EAGAIN = 11, ENOMEM = 12 };

#if CPU_PAGE_SHIFT != CPU_PAGE_SHIFT_MOST
/*
 * Advice for no bytes is refused (EINVAL) at an address that is no multiple of a page, and
 * has no effect elsewhere; the same holds for mincore.  If both are refused, the largest size
 * will do: its multiples are multiples of all sizes.
 */
size_t pages_size(void)
{
	static size_t known;
	size_t size = load_relaxed(&known);

	if (size == 0) {
		for (size = PAGE_LEAST; size < PAGE_MOST; size *= 2)
			if (arch_madvise((void *)size, 0, MADV_NORMAL) == 0 || /* NOLINT: an address */
			    arch_mincore((void *)size, 0, NULL) == 0)	       /* NOLINT */
				break;
		/* Several threads may probe; their results are equal. */
		store_relaxed(&known, size);
	}
	return size;
}
#endif

/* Bytes that mincore may write for what counts as one page: the size may be less than is known. */
#define PAGE_PARTS (PAGE_MOST / PAGE_LEAST)

static void *map(size_t bytes, enum sharing sharing)
{
	long flags = MAP_ANONYMOUS | MAP_NORESERVE;
	long r;

	flags |= sharing == PAGES_PRIVATE ? MAP_PRIVATE : MAP_SHARED;
	r = arch_mmap(NULL, bytes, PROT_READ_WRITE, flags, -1, 0);
	if (r < 0 && r >= -4095) {
		if (r == -ENOMEM || r == -EAGAIN)
			return NULL;
		panic("mmap: kernel error");
	}
	return (void *)r; /* NOLINT: the kernel's word is an address */
}

bool pages_release(void *p, size_t bytes)
{
	long r = arch_munmap(p, bytes);

	if (r != 0 && r != -ENOMEM)
		panic("munmap: kernel error");
	return r == 0;
}

void *pages_reserve(size_t bytes, size_t alignment, enum sharing sharing)
{
	char *p, *aligned;
	size_t head, tail;

	p = map(bytes, sharing);
	if (p == NULL || ((uintptr_t)p & (alignment - 1)) == 0)
		return p;
	/*
	 * Linux aligns a private mapping of whole huge pages to a huge page, so
	 * this is needed only under QEMU, for shared memory and for larger
	 * alignments: map more and cut off both ends.
	 */
	(void)pages_release(p, bytes);
	if (bytes > (size_t)PTRDIFF_MAX - alignment)
		return NULL;
	/* If the page size could not be found out, addresses are multiples of PAGE_LEAST only. */
	p = map(bytes + alignment - PAGE_LEAST, sharing);
	if (p == NULL)
		return NULL;
	aligned = (char *)(((uintptr_t)p + alignment - 1) & ~(uintptr_t)(alignment - 1));
	head = (size_t)(aligned - p);
	tail = alignment - PAGE_LEAST - head;
	/* An end that cannot be unmapped (limit of mappings) stays, untouched. */
	if (head > 0)
		(void)pages_release(p, head);
	if (tail > 0)
		(void)pages_release(aligned + bytes, tail);
	return aligned;
}

bool pages_commit(void *p, size_t bytes)
{
	return arch_madvise(p, bytes, MADV_POPULATE_WRITE) == 0;
}

static bool purge(void *p, size_t bytes, enum sharing sharing)
{
	/*
	 * Refused for locked memory (EINVAL) and by kernels without the advice:
	 * then the memory stays resident.  No error of madvise is fatal.
	 */
	return arch_madvise(p, bytes, sharing == PAGES_PRIVATE ? MADV_DONTNEED : MADV_REMOVE) == 0;
}

/* Results of a probe that is made once: emulators claim more than they do. */
enum { UNKNOWN, TRUSTED, NOT_TRUSTED };

/*
 * Under emulators madvise often returns 0 and does nothing.  So, once for each
 * kind of memory, a page is dirtied, purged and read back.
 */
static bool purge_zeroes(enum sharing sharing)
{
	static unsigned char verdict[2];
	unsigned char known = load_relaxed(&verdict[sharing]);

	if (known == UNKNOWN) {
		volatile char *page = map(PAGE_SIZE, sharing);

		if (page == NULL)
			return false; /* probed again at the next call */
		page[0] = page[PAGE_SIZE - 1] = 1;
		known = NOT_TRUSTED;
		if (purge((void *)page, PAGE_SIZE, sharing) && page[0] == 0 &&
		    page[PAGE_SIZE - 1] == 0)
			known = TRUSTED;
		(void)pages_release((void *)page, PAGE_SIZE);
		/* Two threads may both probe; their results are equal. */
		store_relaxed(&verdict[sharing], known);
	}
	return known == TRUSTED;
}

bool pages_purge(void *p, size_t bytes, enum sharing sharing)
{
	return sharing != PAGES_CALLERS && purge(p, bytes, sharing) && purge_zeroes(sharing);
}

bool pages_grow(void *p, size_t bytes, size_t larger)
{
	return arch_mremap(p, bytes, larger, 0, NULL) == (long)p;
}

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
static bool move_keeps_range(void)
{
	static unsigned char verdict;
	unsigned char known = load_relaxed(&verdict), there[PAGE_PARTS];

	if (known == UNKNOWN) {
		char *page = map(2 * PAGE_SIZE, PAGES_PRIVATE);

		if (page == NULL)
			return false; /* probed again at the next call */
		known = NOT_TRUSTED;
		if (move(page, page + PAGE_SIZE, PAGE_SIZE) == (long)(page + PAGE_SIZE) &&
		    arch_mincore(page, PAGE_SIZE, there) == 0)
			known = TRUSTED;
		(void)pages_release(page, 2 * PAGE_SIZE);
		store_relaxed(&verdict, known);
	}
	return known == TRUSTED;
}

#define PIECE ((size_t)1 << 21) /* a huge page, where pages are 4 KiB; else some pages */

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

void pages_move(void *from, void *to, size_t bytes)
{
	size_t whole = (bytes + PIECE - 1) & ~(PIECE - 1), half;

	/* The whole range in one call; if that is impossible, each half. */
	if (move_keeps_range() && move_run(from, to, whole))
		return;
	half = (whole / 2 + PIECE - 1) & ~(PIECE - 1);
	if (half == whole) {
		memcpy(to, from, bytes);
		return;
	}
	pages_move(from, to, half);
	pages_move((char *)from + half, (char *)to + half, bytes - half);
}

size_t pages_count(void *p, size_t bytes)
{
	unsigned char there[512 * PAGE_PARTS];
	size_t done, n, count = 0;

	for (done = 0; done < bytes; done += n * PAGE_SIZE) {
		n = (bytes - done) / PAGE_SIZE;
		if (n > 512)
			n = 512;
		if (arch_mincore((char *)p + done, n * PAGE_SIZE, there) != 0)
			continue;
		for (size_t i = 0; i < n; i++)
			count += there[i] & 1;
	}
	return count * PAGE_SIZE;
}

bool pages_there(void *page)
{
	unsigned char there[PAGE_PARTS];

	return arch_mincore(page, PAGE_SIZE, there) == 0 && (there[0] & 1) != 0;
}

bool pages_mapped(const void *p)
{
	static char mapped;
	unsigned char there[PAGE_PARTS];
	void *page = (void *)((uintptr_t)p & ~(uintptr_t)(PAGE_SIZE - 1));	 /* NOLINT: an address */
	void *other = (void *)((uintptr_t)&mapped & ~(uintptr_t)(PAGE_SIZE - 1)); /* NOLINT */

	/* The second call, on mapped memory, tells whether ENOMEM comes from a seccomp filter. */
	return arch_mincore(page, PAGE_SIZE, there) != -ENOMEM ||
	       arch_mincore(other, PAGE_SIZE, there) != 0;
}

bool pages_are_locked(void)
{
	char *page = map(PAGE_SIZE, PAGES_PRIVATE);
	bool locked = page != NULL && pages_there(page);

	if (page != NULL)
		(void)pages_release(page, PAGE_SIZE);
	return locked;
}

/* Clears a run of pages that are all resident (there != 0) or all not; returns its end. */
static char *zero_run(char *from, char *to, unsigned there, enum sharing sharing)
{
	size_t bytes = (size_t)(to - from);

	if (there != 0 || !purge(from, bytes, sharing))
		memset(from, 0, bytes);
	return to;
}

void pages_zero(void *p, size_t bytes, enum sharing sharing)
{
	unsigned char there[PIECE / PAGE_LEAST];
	size_t page = PAGE_SIZE;
	char *from = p, *at = p, *end = at + bytes;
	unsigned i, was = 0, is;

	/* Runs of any length: clearing 2 MiB at a time takes a third longer. */
	do {
		/* If residency is unknown, all pages count as resident. */
		if (!purge_zeroes(sharing) || arch_mincore(at, PIECE, there) != 0)
			memset(there, 1, sizeof there);
		for (i = 0; i < PIECE / page; i++, at += page) {
			is = there[i] & 1;
			if (is != was)
				from = zero_run(from, at, was, sharing);
			was = is;
		}
	} while (at < end);
	(void)zero_run(from, at, was, sharing);
}

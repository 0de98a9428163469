/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <stdint.h>

#include "atomic.h"
#include "memory.h"
#include "panic.h"
#include "syscall.h"

/* The kernel's numbers: there are no system headers here. */
enum {
	PROT_READ_WRITE = 3,
	MAP_SHARED = 0x01,
	MAP_PRIVATE = 0x02,
	MAP_FIXED = 0x10,
	MAP_ANONYMOUS = 0x20,
	MAP_NORESERVE = 0x4000,
	MADV_DONTNEED = 4,
	MADV_REMOVE = 9,
	MADV_HUGEPAGE = 14,
	MADV_NOHUGEPAGE = 15,
	MADV_POPULATE_WRITE = 23,
	MREMAP_MAYMOVE = 1,
	MREMAP_FIXED = 2,
	MREMAP_DONTUNMAP = 4
};
enum { EAGAIN = 11, ENOMEM = 12, EFAULT = 14, EINVAL = 22 };

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
	 * Natively a private mapping of whole huge pages comes back aligned to
	 * one, so this seldom runs; under QEMU, for shared memory and for larger
	 * alignments it does.  Both ends are cut off again.
	 */
	(void)pages_release(p, bytes);
	if (bytes > (size_t)PTRDIFF_MAX - alignment)
		return NULL;
	p = map(bytes + alignment - PAGE_SIZE, sharing);
	if (p == NULL)
		return NULL;
	aligned = (char *)(((uintptr_t)p + alignment - 1) & ~(uintptr_t)(alignment - 1));
	head = (size_t)(aligned - p);
	tail = alignment - PAGE_SIZE - head;
	/* An end that cannot be cut off for lack of mappings stays, untouched. */
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
	 * Locked memory (EINVAL) and kernels without the advice refuse: then the
	 * memory simply stays.  No error of advice is fatal.
	 */
	return arch_madvise(p, bytes, sharing == PAGES_PRIVATE ? MADV_DONTNEED : MADV_REMOVE) == 0;
}

/* What is found out once, by a try: emulators promise more than they do. */
enum { UNKNOWN, TRUSTED, NOT_TRUSTED };

/*
 * Advice that answers 0 and does nothing is common under emulators, so one
 * dirtied page is purged and read once, for each kind of memory.
 */
static bool purge_zeroes(enum sharing sharing)
{
	static unsigned char verdict[2];
	unsigned char known = load_relaxed(&verdict[sharing]);

	if (known == UNKNOWN) {
		volatile char *page = map(PAGE_SIZE, sharing);

		if (page == NULL)
			return false; /* asked again next time */
		page[0] = page[PAGE_SIZE - 1] = 1;
		known = NOT_TRUSTED;
		if (purge((void *)page, PAGE_SIZE, sharing) && page[0] == 0 &&
		    page[PAGE_SIZE - 1] == 0)
			known = TRUSTED;
		(void)pages_release((void *)page, PAGE_SIZE);
		/* Two threads may both probe: they find the same. */
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
	/* DONTUNMAP: nobody's mmap can slip into a hole where the old range was. */
	return arch_mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
			   to);
}

/*
 * QEMU 7.2 moves the pages and then takes the old range for unmapped: it gives
 * the addresses to the next mmap, and its advice there is a lie.  A range that
 * mincore does not know is one.
 */
static bool move_keeps_range(void)
{
	static unsigned char verdict;
	unsigned char known = load_relaxed(&verdict), there;

	if (known == UNKNOWN) {
		char *page = map(2 * PAGE_SIZE, PAGES_PRIVATE);

		if (page == NULL)
			return false; /* asked again next time */
		known = NOT_TRUSTED;
		if (move(page, page + PAGE_SIZE, PAGE_SIZE) == (long)(page + PAGE_SIZE) &&
		    arch_mincore(page, PAGE_SIZE, &there) == 0)
			known = TRUSTED;
		(void)pages_release(page, 2 * PAGE_SIZE);
		store_relaxed(&verdict, known);
	}
	return known == TRUSTED;
}

#define PIECE ((size_t)1 << CPU_HUGE_SHIFT)

/*
 * A range of several mappings must not be moved: Linux 6.17 does it one by
 * one, and at the limit of mappings only the first of them; earlier kernels
 * unmap the target and then refuse.  Nor can such a range grow (EFAULT); one
 * mapping can, or there is no room (ENOMEM).
 */
static bool in_one_mapping(char *p)
{
	long r = arch_mremap(p, PIECE, PIECE + PAGE_SIZE, 0, NULL);

	if (r == (long)p)
		(void)pages_release(p + PIECE, PAGE_SIZE); /* it did grow */
	return r == (long)p || r == -ENOMEM || r == -EAGAIN;
}

/* False: the piece is where it was, and the target is mapped. */
static bool move_piece(char *from, char *to)
{
	unsigned char there[PIECE / PAGE_SIZE];
	long r;

	if (!in_one_mapping(from))
		return false;
	r = move(from, to, PIECE);
	if (r == (long)to)
		return true;
	if (r != -ENOMEM && r != -EAGAIN && r != -EINVAL && r != -EFAULT)
		panic("mremap: kernel error");
	/* A refusal may come after the target was unmapped. */
	if (arch_mincore(to, PIECE, there) == -ENOMEM &&
	    arch_mmap(to, PIECE, PROT_READ_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != (long)to)
		panic("mremap: target lost");
	return false;
}

void pages_move(void *from, void *to, size_t bytes)
{
	bool keeps = move_keeps_range();
	size_t done;

	for (done = 0; done < bytes; done += PIECE) {
		char *f = (char *)from + done, *t = (char *)to + done;

		if (!keeps || !move_piece(f, t))
			memcpy(t, f, bytes - done < PIECE ? bytes - done : PIECE);
	}
}

void pages_huge(void *p, size_t bytes, bool wanted)
{
	(void)arch_madvise(p, bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

void pages_zero(void *p, size_t bytes)
{
	enum { BATCH = 512 }; /* pages asked about at a time: the answer fits the stack */
	unsigned char there[BATCH];
	char *at = p, *end = at + bytes;
	char *whole = (char *)(((uintptr_t)at + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1));
	char *whole_end = (char *)((uintptr_t)end & ~(PAGE_SIZE - 1));

	if (whole >= whole_end || !purge_zeroes(PAGES_PRIVATE)) {
		memset(at, 0, bytes);
		return;
	}
	memset(at, 0, (size_t)(whole - at));
	memset(whole_end, 0, (size_t)(end - whole_end));
	for (at = whole; at < whole_end;) {
		size_t pages = (size_t)(whole_end - at) / PAGE_SIZE, i = 0, run;

		if (pages > BATCH)
			pages = BATCH;
		if (arch_mincore(at, pages * PAGE_SIZE, there) != 0) {
			memset(at, 0, pages * PAGE_SIZE);
			i = pages;
		}
		for (; i < pages; i += run) {
			char *from = at + i * PAGE_SIZE;
			size_t length;

			for (run = 1; i + run < pages; run++)
				if ((there[i + run] ^ there[i]) & 1)
					break;
			length = run * PAGE_SIZE;
			if ((there[i] & 1) != 0 || !purge(from, length, PAGES_PRIVATE))
				memset(from, 0, length);
		}
		at += pages * PAGE_SIZE;
	}
}

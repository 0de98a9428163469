/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <stdint.h>

#include "atomic.h"
#include "kernel.h"
#include "memory.h"
#include "syscall.h"

/* Constants of the kernel's interface: there are no system headers here. */
enum {
	MADV_NORMAL = 0,
	MADV_DONTNEED = 4,
	MADV_REMOVE = 9,
	MADV_POPULATE_WRITE = 23
};

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

static void *map(size_t bytes, enum sharing sharing)
{
	long flags = MAP_ANONYMOUS | MAP_NORESERVE;
	long r;

	flags |= sharing == PAGES_PRIVATE ? MAP_PRIVATE : MAP_SHARED;
	r = arch_mmap(NULL, bytes, PROT_READ_WRITE, flags, -1, 0);
	/* Whatever the error: a filter of system calls may have any. */
	if (r < 0 && r >= -4095)
		return NULL;
	return (void *)r; /* NOLINT: the kernel's word is an address */
}

bool pages_release(void *p, size_t bytes)
{
	return arch_munmap(p, bytes) == 0;
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

bool pages_probe(unsigned char *verdict, size_t bytes, enum sharing sharing,
		 bool (*holds)(volatile char *memory, enum sharing sharing))
{
	enum { UNKNOWN, YES, NO };
	unsigned char known = load_relaxed(verdict);
	char *memory;

	if (known == UNKNOWN) {
		memory = pages_reserve(bytes, bytes, sharing);
		if (memory == NULL)
			return false; /* probed again at the next call */
		*(volatile char *)memory = 1;
		known = holds(memory, sharing) ? YES : NO;
		(void)pages_release(memory, bytes);
		/* Several threads may probe; their results are equal. */
		store_relaxed(verdict, known);
	}
	return known == YES;
}

/*
 * Under emulators madvise often returns 0 and does nothing.  So, once for each
 * kind of memory, a page is dirtied, purged and read back.
 */
static bool zeroes(volatile char *page, enum sharing sharing)
{
	page[PAGE_SIZE - 1] = 1;
	return purge((void *)page, PAGE_SIZE, sharing) && page[0] == 0 && page[PAGE_SIZE - 1] == 0;
}

static bool purge_zeroes(enum sharing sharing)
{
	static unsigned char verdict[2];

	return pages_probe(&verdict[sharing], PAGE_SIZE, sharing, zeroes);
}

bool pages_purge(void *p, size_t bytes, enum sharing sharing)
{
	return sharing != PAGES_CALLERS && purge(p, bytes, sharing) && purge_zeroes(sharing);
}

bool pages_grow(void *p, size_t bytes, size_t larger)
{
	return arch_mremap(p, bytes, larger, 0, NULL) == (long)p;
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

	/* The second call, on mapped memory, shows whether ENOMEM comes from a seccomp filter. */
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
	unsigned char there[PAGE_HUGE / PAGE_LEAST];
	size_t page = PAGE_SIZE;
	char *from = p, *at = p, *end = at + bytes;
	unsigned i, was = 0, is;

	/* Runs of any length: clearing 2 MiB at a time takes a third longer. */
	do {
		/* If residency is unknown, all pages count as resident. */
		if (!purge_zeroes(sharing) || arch_mincore(at, PAGE_HUGE, there) != 0)
			memset(there, 1, sizeof there);
		for (i = 0; i < PAGE_HUGE / page; i++, at += page) {
			is = there[i] & 1;
			if (is != was)
				from = zero_run(from, at, was, sharing);
			was = is;
		}
	} while (at < end);
	(void)zero_run(from, at, was, sharing);
}

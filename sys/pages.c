/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <stdint.h>

#include "atomic.h"
#include "back.h"
#include "kernel.h"
#include "memory.h"
#include "process.h"
#include "syscall.h"

/* Constants of the kernel's interface: there are no system headers here. */
enum {
	MADV_NORMAL = 0,
	MADV_WILLNEED = 3,
	MADV_DONTNEED = 4,
	MADV_REMOVE = 9,
	MADV_POPULATE_WRITE = 23,
	NOT_MAPPED = 14 /* EFAULT */
};

/*
 * Advice for no bytes is refused (EINVAL) at an address that is no multiple of a page, and has no effect elsewhere.
 * If the advice is always refused, the result is the largest size, because multiples of that are multiples of all
 * sizes.
 */
size_t pages_size(void)
{
	static size_t known;
	size_t size = load_relaxed(&known);

	if (size == 0) {
		for (size = PAGE_LEAST; size < PAGE_MOST; size *= 2)
			if (arch_madvise((void *)size, 0, MADV_NORMAL) == 0) /* NOLINT: an address */
				break;
		/* Several threads may probe; their results are equal. */
		store_relaxed(&known, size);
	}
	return size;
}

bool pages_commit(void *p, size_t bytes)
{
	return arch_madvise(p, bytes, MADV_POPULATE_WRITE) == 0;
}

static bool purge(void *p, size_t bytes, enum sharing sharing)
{
	/* 0 where there is no advice. */
	static const unsigned char advice[PAGES_PROMISED + 1] = {[PAGES_PRIVATE] = MADV_DONTNEED, [PAGES_SHARED] = MADV_REMOVE};

	/*
	 * The kernel refuses this for locked memory (EINVAL) and if the kernel lacks the advice: then the memory
	 * stays resident.  No error of madvise is fatal.
	 */
	return advice[sharing] != 0 && back_madvise(p, bytes, advice[sharing]) == 0;
}

bool pages_probe(unsigned char *verdict, size_t bytes, enum sharing sharing,
		 enum probe (*probe)(volatile char *memory, enum sharing sharing))
{
	unsigned char known = load_relaxed(verdict);
	char *memory;

	if (known == PROBE_UNKNOWN) {
		memory = pages_reserve(bytes, bytes, sharing);
		if (memory == NULL)
			return false;
		*(volatile char *)memory = 1;
		known = (unsigned char)probe(memory, sharing);
		(void)pages_release(memory, bytes);
		/* Several threads may probe; their results are equal, or unknown. */
		if (known != PROBE_UNKNOWN)
			store_relaxed(verdict, known);
	}
	return known == PROBE_YES;
}

/*
 * Under emulators madvise often returns 0 and does nothing.  So, once for each kind of memory, a page is dirtied,
 * purged and read back.
 */
static enum probe zeroes(volatile char *page, enum sharing sharing)
{
	page[PAGE_SIZE - 1] = 1;
	if (!purge((void *)page, PAGE_SIZE, sharing))
		return PROBE_UNKNOWN;
	return page[0] == 0 && page[PAGE_SIZE - 1] == 0 ? PROBE_YES : PROBE_NO;
}

static bool purge_zeroes(enum sharing sharing)
{
	static unsigned char verdict[2];

	return pages_probe(&verdict[sharing], PAGE_SIZE, sharing, zeroes);
}

bool pages_purge(void *p, size_t bytes, enum sharing sharing)
{
	return purge(p, bytes, sharing) && purge_zeroes(sharing);
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

/*
 * The advice to read a page in changes no contents.  ENOMEM means that nothing is mapped there.  Emulators accept any
 * advice; for them mremap to the current length decides, which older kernels accept anywhere.
 */
static bool is_unmapped(const void *p)
{
	void *page = (void *)((uintptr_t)p & ~(uintptr_t)(PAGE_SIZE - 1)); /* NOLINT: an address */

	return arch_madvise(page, PAGE_SIZE, MADV_WILLNEED) == -ENOMEM ||
	       (!process_mark_is_wiped() && arch_mremap(page, PAGE_SIZE, PAGE_SIZE, 0, NULL) == -NOT_MAPPED);
}

bool pages_mapped(const void *p)
{
	static char mapped;

	/* The second call, on mapped memory, shows whether ENOMEM comes from a seccomp filter. */
	return !is_unmapped(p) || is_unmapped(&mapped);
}

bool pages_are_locked(void)
{
	char *page = pages_reserve(PAGE_SIZE, PAGE_LEAST, PAGES_PRIVATE);
	/* The kernel refuses to purge locked memory.  If a filter refuses, this costs some mappings. */
	bool locked = page != NULL && !purge(page, PAGE_SIZE, PAGES_PRIVATE);

	if (page != NULL)
		(void)pages_release(page, PAGE_SIZE);
	return locked;
}

bool pages_zeroes(const void *page)
{
	typedef uint64_t __attribute__((may_alias)) word;
	const word *from = page, *end = from + PAGE_LEAST / sizeof *from;

	while (from < end && *from == 0)
		from++;
	return from == end;
}

size_t pages_written(void *p, size_t bytes, enum sharing sharing)
{
	size_t done, count = 0;

	if (sharing != PAGES_PRIVATE)
		return pages_count(p, bytes);
	if (IS_HARDENED)
		return bytes; /* free memory was cleared: its contents say nothing */
	for (done = 0; done < bytes; done += PAGE_LEAST) {
		if (pages_zeroes((char *)p + done))
			continue;
		count += PAGE_SIZE;
		done |= PAGE_SIZE - PAGE_LEAST; /* the rest of this page */
	}
	return count;
}

bool pages_hollow(char *p, size_t bytes, enum sharing sharing)
{
	return pages_blank(p + (bytes / 2 & ~(PAGE_SIZE - 1)), sharing) ||
	       pages_blank(p + (bytes / 3 & ~(PAGE_SIZE - 1)), sharing);
}

void pages_clear(void *p, size_t bytes, bool hollow, enum sharing sharing)
{
	if (!hollow || !pages_purge(p, bytes, sharing))
		memset(p, 0, bytes);
}

enum { MADV_HUGEPAGE = 14, MADV_NOHUGEPAGE = 15 };

bool pages_huge(void *p, size_t bytes, bool wanted)
{
	return arch_madvise(p, bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0;
}

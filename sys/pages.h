/* SPDX-License-Identifier: MIT */
/*
 * Memory from the operating system (mmap, madvise, mremap).  Addresses and lengths
 * are multiples of PAGE_SIZE unless said otherwise.
 *
 *            reserve            first touch / commit
 *   (none) ----------> reserved ----------------> backed
 *      ^                  ^                         |
 *      |     release      |          purge          |
 *      +------------------+<------------------------+
 *
 * Reserved memory reads zero; purged memory does if, and only if, pages_purge
 * returned true.  Running out of memory or of mappings is reported by NULL or
 * false; so is any other error of mmap or munmap, as filters of system calls (seccomp) give
 * whatever they were told to.
 */
#ifndef SYS_PAGES_H
#define SYS_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "cpu.h"
#include "internal.h"

/*
 * Layouts fit the largest page that a kernel for this CPU may have: lengths of what is
 * mapped, and offsets in it, are multiples of PAGE_MOST.  PAGE_SIZE is the kernel's own,
 * which counts where parts of a range are given back or looked at.
 */
#define PAGE_LEAST ((size_t)1 << CPU_PAGE_SHIFT)
#define PAGE_MOST  ((size_t)1 << CPU_PAGE_SHIFT_MOST)
#if CPU_PAGE_SHIFT == CPU_PAGE_SHIFT_MOST
#define PAGE_SIZE PAGE_MOST
#else
#define PAGE_SIZE pages_size()
INTERNAL size_t pages_size(void);
#endif
#define PAGE_HUGE ((size_t)1 << 21) /* a huge page, where pages are 4 KiB; else some pages */
/* Bytes that mincore may write for one PAGE_SIZE: the kernel's pages may be smaller. */
#define PAGE_PARTS (PAGE_MOST / PAGE_LEAST)

enum sharing {
	PAGES_PRIVATE,
	PAGES_SHARED, /* MAP_SHARED: with children of fork, or by way of a file */
	PAGES_CALLERS, /* given by the caller: no system call touches it        */
	PAGES_GONE     /* of a heap that was destroyed, see instance_destroy.c  */
};

/* Maps readable, writable, zeroed memory.  alignment: a power of two.  NULL: no memory. */
INTERNAL void *pages_reserve(size_t bytes, size_t alignment, enum sharing sharing);

/* Backs the range with memory now instead of at the first touch.  False: refused. */
INTERNAL bool pages_commit(void *p, size_t bytes);

/*
 * Gives the memory back and keeps the addresses.  True: the range reads zero
 * from now on.  False: its contents are unchanged or unknown (locked memory, a
 * kernel or emulator where madvise has no effect).
 */
INTERNAL bool pages_purge(void *p, size_t bytes, enum sharing sharing);

/* Unmaps the range.  False: the limit of mappings was reached, or it was refused; the range stays mapped. */
INTERNAL bool pages_release(void *p, size_t bytes);

/*
 * Returns the result of `holds`, which is called once: emulators claim more than they do.  It
 * gets memory of `bytes` (a power of two), whose first byte is 1.  False: it answered false, or
 * the result is not known yet.
 */
INTERNAL bool pages_probe(unsigned char *verdict, size_t bytes, enum sharing sharing,
			  bool (*holds)(volatile char *memory, enum sharing sharing));

/* Grows a private reservation in place.  False: the addresses behind it are taken. */
INTERNAL bool pages_grow(void *p, size_t bytes, size_t larger);

/*
 * Moves the contents of one private range to another: by remapping pages where
 * the kernel can, else by copying.  Both ranges are aligned to a huge page and
 * belong to the caller up to the next multiple of one.  Whole huge pages are
 * moved, so that mapping borders stay aligned to huge pages and later moves are
 * not split.  Both ranges stay mapped; the contents of the old one are undefined.
 */
INTERNAL void pages_move(void *from, void *to, size_t bytes);

/*
 * The same for whole huge pages, if one remapping does it.  True: the old range reads zero
 * from now on.  False: nothing was moved; the new range may have lost its contents.
 */
INTERNAL bool pages_remap(void *from, void *to, size_t bytes);

/* Advises the kernel for or against huge pages in the range.  False: refused, no change. */
INTERNAL bool pages_huge(void *p, size_t bytes, bool wanted);

/* True: the kernel uses huge pages without being asked, or that is unknown. */
INTERNAL bool pages_huge_unasked(void);

/* Resident bytes of the range (0 if unknown). */
INTERNAL size_t pages_count(void *p, size_t bytes);

/* True: the page is resident. */
INTERNAL bool pages_there(void *page);

/* False: the page of this address is certainly not mapped. */
INTERNAL bool pages_mapped(const void *p);

/* True: mappings are resident at once (mlockall), so that reserving ahead would cost memory. */
INTERNAL bool pages_are_locked(void);

/*
 * Makes whole huge pages read zero at the least cost: resident pages are cleared,
 * the others purged (a page that is not resident may be in swap).
 */
INTERNAL void pages_zero(void *p, size_t bytes, enum sharing sharing);

#endif

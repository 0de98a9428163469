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
#define PAGE_SIZE  (PAGE_LEAST == PAGE_MOST ? PAGE_MOST : pages_size())
INTERNAL size_t pages_size(void);
#define PAGE_HUGE ((size_t)1 << 21) /* a huge page, where pages are 4 KiB; else some pages */
/* Bytes that mincore may write for one PAGE_SIZE: the kernel's pages may be smaller. */
#define PAGE_PARTS (PAGE_MOST / PAGE_LEAST)

enum sharing {
	PAGES_PRIVATE,
	PAGES_SHARED, /* MAP_SHARED: with children of fork, or by way of a file */
	PAGES_CALLERS, /* given by the caller: no system call touches it        */
	PAGES_GONE,    /* of a heap that was destroyed, see instance_create.c   */
	PAGES_RECORDS, /* for pages_reserve: private, and never released        */
	PAGES_PROMISED /* for pages_reserve: private, and refused if the kernel would
			  not promise so much memory (vm.overcommit_memory)      */
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

/* The same for a part of what was reserved.  False also where a system takes back only the whole. */
INTERNAL bool pages_cut(void *p, size_t bytes);
/* False: it never succeeds. */
INTERNAL bool pages_may_cut(void);

/*
 * False: the process may not map so many bytes more.  The limits are those of addresses (RLIMIT_AS) and, unless
 * addresses_only, of data (RLIMIT_DATA); what the kernel promises is none of them (vm.overcommit_memory).  Maps and
 * unmaps the bytes; with addresses_only they have no access, so that locked memory is not made resident.
 */
INTERNAL bool pages_left(size_t bytes, bool addresses_only);

/* UNKNOWN: nothing was learnt (a limit, a filter, locked memory): probed again at the next call. */
enum probe { PROBE_UNKNOWN, PROBE_YES, PROBE_NO };

/*
 * True: the verdict is PROBE_YES.  While it is unknown it is asked of `probe`, as emulators claim
 * more than they do.  It gets memory of `bytes` (a power of two), whose first byte is 1.
 */
INTERNAL bool pages_probe(unsigned char *verdict, size_t bytes, enum sharing sharing,
			  enum probe (*probe)(volatile char *memory, enum sharing sharing));

/* Grows a private reservation, made with this sharing, in place.  False: the addresses behind it are taken. */
INTERNAL bool pages_grow(void *p, size_t bytes, size_t larger, enum sharing sharing);

enum moved {
	PAGES_STAYED, /* not moved; the new range may have lost its contents             */
	PAGES_MOVED,  /* the old range stays mapped and reads zero from now on           */
	PAGES_LOST    /* not moved, and the new range may be unmapped, or by now another
			 thread's: no call may use its addresses again, or unmap them. At
			 most once in each thread that is moving pages at the time        */
};

/*
 * Moves the contents of one private range to another: by remapping pages where
 * the kernel can, else by copying (PAGES_STAYED: the contents of the old range are
 * undefined).  Both ranges are aligned to a huge page and belong to the caller up to
 * the next multiple of one.  Whole huge pages are moved, so that mapping borders stay
 * aligned to huge pages and later moves are not split.
 */
INTERNAL enum moved pages_move(void *from, void *to, size_t bytes);

/* The same for whole huge pages, if one remapping does it; copies nothing. */
INTERNAL enum moved pages_remap(void *from, void *to, size_t bytes);

/* Advises the kernel for or against huge pages in the range.  False: refused, no change. */
INTERNAL bool pages_huge(void *p, size_t bytes, bool wanted);

/* Resident bytes of the range (0 if unknown). */
INTERNAL size_t pages_count(void *p, size_t bytes);

/*
 * Bytes of the pages that were written, by pages_blank: for memory that no thread writes meanwhile.  In hardened products all
 * of them.
 */
INTERNAL size_t pages_written(void *p, size_t bytes, enum sharing sharing);

/* True: the page is resident. */
INTERNAL bool pages_there(void *page);

/* False: the page of this address is certainly not mapped. */
INTERNAL bool pages_mapped(const void *p);

/* True: new mappings are locked (mlockall), so mostly resident at once: reserving ahead would cost memory. */
INTERNAL bool pages_are_locked(void);

/*
 * True: the page was probably never written.  Of a private page it is the contents that tell, not
 * the system (whose mincore is in few filters of system calls): they are zero.  To read a page that
 * is not resident is a fault, but takes no memory; to read a hole of a file fills it.
 */
INTERNAL bool pages_zeroes(const void *page);

static inline bool pages_blank(void *page, enum sharing sharing)
{
	return sharing == PAGES_PRIVATE ? pages_zeroes(page) : sharing == PAGES_SHARED && !pages_there(page);
}

/* True: most of these pages were probably never written.  Two are looked at; one is at no power of two. */
INTERNAL bool pages_hollow(char *p, size_t bytes, enum sharing sharing);

/* Makes the range read zero, by a purge if it is hollow. */
INTERNAL void pages_clear(void *p, size_t bytes, bool hollow, enum sharing sharing);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Memory from the operating system (mmap, madvise, mremap).  Addresses and lengths are multiples of PAGE_SIZE unless
 * said otherwise.
 *
 *            reserve            first touch / commit
 *   (none) ----------> reserved ----------------> backed
 *      ^                  ^                         |
 *      |     release      |          purge          |
 *      +------------------+<------------------------+
 *
 * Reserved memory reads zero.  Purged memory reads zero if, and only if, pages_purge returned true.  A lack of memory
 * or of mappings is reported by NULL or false; so is any other error of mmap or munmap, because filters of system
 * calls (seccomp) return arbitrary errors.
 */
#ifndef SYS_PAGES_H
#define SYS_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "cpu.h"
#include "internal.h"

/*
 * Layouts fit the largest page that a kernel for this CPU may have: lengths of mappings, and offsets in them, are
 * multiples of PAGE_MOST.  PAGE_SIZE is the kernel's own page size.  It counts if parts of a range are released or
 * examined.
 */
#define PAGE_LEAST ((size_t)1 << CPU_PAGE_SHIFT)
#define PAGE_MOST  ((size_t)1 << CPU_PAGE_SHIFT_MOST)
#define PAGE_SIZE  (PAGE_LEAST == PAGE_MOST ? PAGE_MOST : pages_size())
INTERNAL size_t pages_size(void);
#define PAGE_HUGE ((size_t)1 << 21) /* a huge page if pages have 4 KiB; otherwise several pages */
/* Bytes that mincore may write for one PAGE_SIZE: the kernel's pages may be smaller. */
#define PAGE_PARTS (PAGE_MOST / PAGE_LEAST)

enum sharing {
	PAGES_PRIVATE,
	PAGES_SHARED, /* MAP_SHARED: with children of fork, or by way of a file */
	PAGES_CALLERS, /* given by the caller: no system call touches this memory  */
	PAGES_GONE,    /* of a heap that was destroyed, see instance_create.c      */
	PAGES_RECORDS, /* for pages_reserve: private memory that is never released */
	PAGES_PROMISED /* for pages_reserve: private memory, refused if the kernel would not promise it
			  (vm.overcommit_memory) */
};

/* Maps readable, writable, zeroed memory.  The alignment is a power of two.  Returns NULL if there is no memory. */
INTERNAL void *pages_reserve(size_t bytes, size_t alignment, enum sharing sharing);

/* Backs the range with memory now instead of at the first touch.  Returns false if the kernel refuses. */
INTERNAL bool pages_commit(void *p, size_t bytes);

/*
 * Releases the memory and keeps the addresses.  Returns true if the range reads zero from now on.  Returns false if
 * its contents are unchanged or unknown (locked memory, a kernel or emulator without effect of madvise).
 */
INTERNAL bool pages_purge(void *p, size_t bytes, enum sharing sharing);

/*
 * Unmaps the range.  Returns false if the limit of mappings was reached or the kernel refused; then the range stays
 * mapped.
 */
INTERNAL bool pages_release(void *p, size_t bytes);

/* Unmaps a part of a reservation.  Returns false also if the system releases only whole reservations. */
INTERNAL bool pages_cut(void *p, size_t bytes);
/* Returns false if pages_cut never succeeds. */
INTERNAL bool pages_may_cut(void);

/*
 * Returns false if the process may not map so many more bytes.  The limits are those of addresses (RLIMIT_AS) and,
 * unless addresses_only, of data (RLIMIT_DATA), but not the kernel's promise (vm.overcommit_memory).  Maps and unmaps
 * the bytes; with addresses_only they have no access, so that locked memory does not become resident.
 */
INTERNAL bool pages_left(size_t bytes, bool addresses_only);

/* PROBE_UNKNOWN means that a limit, a filter or locked memory hid the answer: the next call probes again. */
enum probe { PROBE_UNKNOWN, PROBE_YES, PROBE_NO };

/*
 * Returns whether the verdict is PROBE_YES.  While the verdict is unknown, asks `probe`, because emulators claim more
 * than they do.  `probe` gets memory of `bytes` (a power of two), whose first byte is 1.
 */
INTERNAL bool pages_probe(unsigned char *verdict, size_t bytes, enum sharing sharing,
			  enum probe (*probe)(volatile char *memory, enum sharing sharing));

/* Grows a private reservation, made with this sharing, in place.  Returns false if the addresses behind it are taken. */
INTERNAL bool pages_grow(void *p, size_t bytes, size_t larger, enum sharing sharing);

enum moved {
	PAGES_STAYED, /* not moved; the new range may have lost its contents             */
	PAGES_MOVED,  /* the old range stays mapped and reads zero from now on           */
	PAGES_LOST    /* not moved, and the new range may be unmapped, or another thread's: no call may
			 use or unmap its addresses.  At most once in each thread that is moving pages */
};

/*
 * Moves the contents of a private range to another: by remapping pages if the kernel can, otherwise by copying
 * (PAGES_STAYED: the contents of the old range are undefined).  Both ranges are aligned to a huge page and belong to
 * the caller up to the next multiple of a huge page.  Whole huge pages are moved, so that mapping borders stay
 * aligned to huge pages and later moves are not split.
 */
INTERNAL enum moved pages_move(void *from, void *to, size_t bytes);

/* Moves whole huge pages by a single remapping if that is possible.  Copies nothing. */
INTERNAL enum moved pages_remap(void *from, void *to, size_t bytes);

/* Advises the kernel for or against huge pages in the range.  Returns false if the kernel refused; then nothing changed. */
INTERNAL bool pages_huge(void *p, size_t bytes, bool wanted);

/* Resident bytes of the range (0 if unknown). */
INTERNAL size_t pages_count(void *p, size_t bytes);

/*
 * Returns the bytes of the pages that were written, by pages_blank.  No thread may write the memory during the call.
 * In hardened products returns all bytes.
 */
INTERNAL size_t pages_written(void *p, size_t bytes, enum sharing sharing);

/* Returns whether the page is resident. */
INTERNAL bool pages_there(void *page);

/* Returns false if the page of this address is certainly not mapped. */
INTERNAL bool pages_mapped(const void *p);

/*
 * Returns whether new mappings are locked (mlockall) and therefore mostly resident at once: then reserving ahead
 * would cost memory.
 */
INTERNAL bool pages_are_locked(void);

/*
 * Returns whether the page was probably never written.  For a private page this looks at the contents, which must be
 * zero, and does not ask the system (few filters of system calls allow mincore).  Reading a page that is not resident
 * is a fault, but takes no memory; reading a hole of a file fills the hole.
 */
INTERNAL bool pages_zeroes(const void *page);

static inline bool pages_blank(void *page, enum sharing sharing)
{
	return sharing == PAGES_PRIVATE ? pages_zeroes(page) : sharing == PAGES_SHARED && !pages_there(page);
}

/*
 * Returns whether most of these pages were probably never written.  Looks at two pages, of which one is at no power
 * of two.
 */
INTERNAL bool pages_hollow(char *p, size_t bytes, enum sharing sharing);

/* Makes the range read zero, by a purge if the range is hollow. */
INTERNAL void pages_clear(void *p, size_t bytes, bool hollow, enum sharing sharing);

#endif

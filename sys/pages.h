/* SPDX-License-Identifier: MIT */
/*
 * Memory of the operating system.  Addresses and lengths are multiples of
 * PAGE_SIZE unless said otherwise.
 *
 *            reserve            first touch / commit
 *   (none) ----------> reserved ----------------> backed
 *      ^                  ^                         |
 *      |     release      |          purge          |
 *      +------------------+<------------------------+
 *
 * Reserved memory reads zero; so does purged memory if, and only if,
 * pages_purge says so.  Running out of memory or of mappings is an answer
 * (NULL, false).  Any other error of the kernel can only come from a bug of
 * ours and is a panic.
 */
#ifndef SYS_PAGES_H
#define SYS_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "cpu.h"
#include "internal.h"

#define PAGE_SIZE ((size_t)1 << CPU_PAGE_SHIFT)

enum sharing {
	PAGES_PRIVATE,
	PAGES_SHARED, /* with the children of fork, or with whoever has the file */
	PAGES_CALLERS, /* given by the caller: no system call touches it        */
	PAGES_GONE     /* of a heap that was destroyed, see instance_destroy.c  */
};

/* `alignment`: a power of two.  Readable and writable, zero; NULL: none. */
INTERNAL void *pages_reserve(size_t bytes, size_t alignment, enum sharing sharing);

/* Backs the range now instead of at its first touch.  A wish: false, if not granted. */
INTERNAL bool pages_commit(void *p, size_t bytes);

/*
 * Gives the memory back and keeps the addresses.  True: the range reads zero
 * from now on.  False: it reads as before, or nobody knows (locked memory, a
 * kernel or emulator whose advice does nothing).
 */
INTERNAL bool pages_purge(void *p, size_t bytes, enum sharing sharing);

/* Gives memory and addresses back.  False: the kernel had no room to do it. */
INTERNAL bool pages_release(void *p, size_t bytes);

/* Grows a private reservation where it stands.  False: the addresses behind it are taken. */
INTERNAL bool pages_grow(void *p, size_t bytes, size_t larger);

/*
 * Moves what a private range holds to another one: the pages where the kernel
 * can, the bytes where it cannot.  Both are ours up to the next multiple of a
 * huge page and aligned to one; what moves is whole huge pages, so that the
 * borders between mappings stay where the next move does not mind them.  The
 * old range stays ours, and so does the target; nobody knows what the old
 * one reads.
 */
INTERNAL void pages_move(void *from, void *to, size_t bytes);

/* Asks for huge pages in the range, or for none.  False: refused, all is as before. */
INTERNAL bool pages_huge(void *p, size_t bytes, bool wanted);

/* True: huge pages come where nobody asks for them, or nobody knows. */
INTERNAL bool pages_huge_unasked(void);

/* Bytes of the range that have memory (none, if nobody knows). */
INTERNAL size_t pages_count(void *p, size_t bytes);

/* True: the page has memory. */
INTERNAL bool pages_there(void *page);

/* False: nothing is mapped where the page of this address would be. */
INTERNAL bool pages_mapped(const void *p);

/* True: what is mapped has its memory at once (mlockall): to reserve ahead would cost some. */
INTERNAL bool pages_are_locked(void);

/*
 * Makes memory of whole huge pages read zero, at the smallest price: pages that are there
 * are cleared, the others are purged (what is not there may be in swap).
 */
INTERNAL void pages_zero(void *p, size_t bytes, enum sharing sharing);

#endif

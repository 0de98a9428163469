/* SPDX-License-Identifier: MIT */
/*
 * Ashlar as the malloc of musl, inside of musl: src/malloc/ashlar/glue.c of `./configure --with-malloc=ashlar`
 * (README.md).  musl's own files have malloc, calloc, free, realloc, memalign and posix_memalign; they call the
 * functions below.  musl compiles each *.c of the folder, so the amalgamation is staged as allocator.inc.
 *
 * There is no __malloc_atfork and there are no locks, because a child of fork may use Ashlar at once.
 */

/* Programs may have an Ashlar of their own: the public names are reserved ones here (renamed.h), and hidden. */
#include "renamed.h"
#pragma GCC visibility push(hidden)
#include "ashlar.h"
#include "ashlar_heap.h"
/* Names by which sys/back.c knows glibc.  Programs may have them (gcompat), and these stand for none. */
#define gnu_get_libc_version __ashlar_gnu_get_libc_version
#define _IO_stdin_used	     __ashlar_IO_stdin_used
__attribute__((weak)) const char *gnu_get_libc_version(void);
extern __attribute__((weak)) const int _IO_stdin_used;
#pragma GCC visibility pop

#define ASHLAR_SMALL
#include "allocator.inc"

/* Below the allocator, because musl's inner headers define words as macros: `weak`, the error numbers. */
#include <errno.h>
#include <stdlib.h>

#include "dynlink.h"

/* Passes the result on.  Sets errno if it is NULL. */
static void *or_enomem(void *p)
{
	if (p == NULL)
		errno = ENOMEM;
	return p;
}

hidden void *__libc_malloc_impl(size_t size)
{
	return or_enomem(ash_alloc(size));
}

hidden void *__libc_realloc(void *p, size_t size)
{
	return or_enomem(ash_resize(p, size));
}

hidden void __libc_free(void *p)
{
	ash_release(p);
}

/* Returns whether all bytes of the block are 0.  calloc asks this at once after malloc. */
hidden int __malloc_allzerop(void *p)
{
	/* A large block is a new mapping, unless the system ever refused to take memory back (core/small/large.c). */
	return place_pool(place_at(p)) == NULL && load_relaxed(&kept) == 0;
}

/* The dynamic linker offers the rest of a library's last page.  The allocator takes whole pages of its own only. */
hidden void __malloc_donate(char *start, char *end)
{
	(void)start, (void)end;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	if (!bits_is_power(alignment)) {
		errno = EINVAL;
		return NULL;
	}
	/* The program has its own malloc and free, but not this function: its free would get blocks of this malloc. */
	if (__malloc_replaced && !__aligned_alloc_replaced)
		return or_enomem(NULL);
	return or_enomem(ash_aligned_alloc(alignment < GRANULE ? GRANULE : alignment, size));
}

size_t malloc_usable_size(void *p)
{
	return ash_usable_size(p);
}

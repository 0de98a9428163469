/* SPDX-License-Identifier: MIT */
/*
 * Ashlar as the malloc inside of musl (README.md): src/malloc/ashlar/glue.c, and with ASHLAR_SMALL also that of
 * src/malloc/ashlar-small.  musl's own files have malloc, calloc, free, realloc, memalign and posix_memalign; they
 * call the functions below.  musl compiles each *.c of the folder, so the amalgamation is staged as allocator.inc.
 *
 * There is no __malloc_atfork and there are no locks, because a child of fork may use Ashlar at once.
 */

/* Programs may have an Ashlar of their own: stage has put __ before the public names, and here they are hidden. */
#pragma GCC visibility push(hidden)
#include "ashlar.h"
#include "ashlar_descriptor.h"
#include "ashlar_heap.h"
/* Names by which sys/back.c knows glibc.  Programs may have them (gcompat); nobody defines these. */
#define gnu_get_libc_version __ashlar_gnu_get_libc_version
#define _IO_stdin_used	     __ashlar_IO_stdin_used
__attribute__((weak)) const char *gnu_get_libc_version(void);
extern __attribute__((weak)) const int _IO_stdin_used;
#pragma GCC visibility pop

#define ASHLAR_LIBC
#include "allocator.inc"

/* Below the allocator, because musl's inner headers define words as macros: `weak`, the error numbers. */
#undef PAGE_SIZE
#include <errno.h>
#include <stdlib.h>

#include "dynlink.h"
#include "pthread_impl.h"

#if !IS_SMALL
_Static_assert(sizeof seat == sizeof(((struct pthread *)0)->malloc_seat), "the words that musl.patch adds");
#undef seat

static inline struct seat *seat_here(void)
{
	return (struct seat *)&__pthread_self()->malloc_seat;
}

/* Called when the words of a new thread were cleared, and again for a thread that has its seat. */
hidden void __malloc_seat(void *words)
{
	struct seat *s = words;

	if (s->self == NULL)
		s->self = owner_none;
}

/* Called by a thread when it calls nothing else of this file any more, or gets other words. */
hidden void __malloc_thread_exit(void)
{
	__ash_thread_detach();
}
#endif

/* Passes the result on.  Sets errno if it is NULL. */
static inline void *or_enomem(void *p)
{
	if (unlikely(p == NULL))
		errno = ENOMEM;
	return p;
}

hidden void *__libc_malloc_impl(size_t size)
{
	return or_enomem(__ash_alloc(size));
}

hidden void *__libc_realloc(void *p, size_t size)
{
	return or_enomem(__ash_resize(p, size));
}

hidden void __libc_free(void *p)
{
	__ash_release(p);
}

hidden void *__malloc_zeroed(size_t size)
{
	return or_enomem(__ash_zalloc(1, size));
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
	return or_enomem(__ash_aligned_alloc(alignment < 16 ? 16 : alignment, size));
}

size_t malloc_usable_size(void *p)
{
	return __ash_usable_size(p);
}

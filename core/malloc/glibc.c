/* SPDX-License-Identifier: MIT */
/*
 * The names by which programs and libraries for glibc call its own malloc past any other: free would not know a block
 * that glibc's function allocated.  The names are weak, because musl has four of them inside: a static program gets
 * either musl's objects or these.
 */
#include "facade.h"

#define INNER EXPORT __attribute__((weak))

INNER void *__libc_malloc(size_t size);
INNER void *__libc_calloc(size_t count, size_t size);
INNER void *__libc_realloc(void *p, size_t size);
INNER void __libc_free(void *p);
INNER void *__libc_memalign(size_t alignment, size_t size);
INNER void *__libc_valloc(size_t size);
INNER void *__libc_pvalloc(size_t size);
INNER int __posix_memalign(void **out, size_t alignment, size_t size);

void *__libc_malloc(size_t size)
{
	return facade_malloc(size);
}

void *__libc_calloc(size_t count, size_t size)
{
	return facade_calloc(count, size);
}

void *__libc_realloc(void *p, size_t size)
{
	return facade_realloc(p, size);
}

void __libc_free(void *p)
{
	facade_free(p);
}

void *__libc_memalign(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

void *__libc_valloc(size_t size)
{
	return valloc(size);
}

void *__libc_pvalloc(size_t size)
{
	return pvalloc(size);
}

int __posix_memalign(void **out, size_t alignment, size_t size)
{
	return posix_memalign(out, alignment, size);
}

/* SPDX-License-Identifier: MIT */
/* malloc, calloc, realloc and free, with the contracts of C, POSIX and glibc. */
#include "facade.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

/* Inlines the library's fast path, which saves a call. */
#define FLAT __attribute__((flatten, aligned(64)))
#define REST __attribute__((noinline))

void *facade_fail(enum facade_error error)
{
	if (__errno_location != NULL)
		*__errno_location() = (int)error;
	return NULL;
}

/* Called by the library (ashlar.h), so that malloc's fast path need not test for NULL. */
void ash_on_no_memory(void)
{
	facade_tell(FACADE_MALLOC);
	(void)facade_fail(FACADE_ENOMEM);
}

FLAT void *malloc(size_t size)
{
	return ash_alloc(size);
}

FLAT void free(void *p)
{
	ash_free(p);
}

/* Called by the library when free(NULL) reaches its slow path (core/front/variant.h). */
void release_null(void);
void release_null(void)
{
	facade_tell(FACADE_FREE);
}

FLAT void *calloc(size_t count, size_t size)
{
	return ash_zalloc(count, size);
}

static REST void *realloc_none(void *p, size_t size)
{
	facade_tell(FACADE_REALLOC);
	if (p == NULL)
		/* A size that is too large is refused here, because ash_on_no_memory would also answer for malloc. */
		return size <= PTRDIFF_MAX ? ash_alloc(size) : facade_fail(FACADE_ENOMEM);
	diagnose_called("realloc", p);
	ash_release(p); /* size 0 releases, as in glibc; then NULL is no error */
	return NULL;
}

FLAT void *realloc(void *p, size_t size)
{
	if (unlikely(p == NULL) || unlikely(size == 0))
		return realloc_none(p, size);
	return ash_realloc(p, size);
}

/* `used`, because tools/ashlar-check looks for these names even if no object calls them. */
void *facade_malloc(size_t size) __attribute__((used, alias("malloc")));
void *facade_calloc(size_t count, size_t size) __attribute__((used, alias("calloc")));
void *facade_realloc(void *p, size_t size) __attribute__((used, alias("realloc")));
void facade_free(void *p) __attribute__((used, alias("free")));

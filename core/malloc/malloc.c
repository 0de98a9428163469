/* SPDX-License-Identifier: MIT */
/* The four names of malloc; what they promise beyond ashlar.h is C's, POSIX's and glibc's. */
#include "facade.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

/* One call less on the way: the library's fast path becomes a part of the caller. */
#define FLAT __attribute__((flatten, aligned(64)))
#define REST __attribute__((noinline))

void *facade_fail(enum facade_error error)
{
	if (__errno_location != NULL)
		*__errno_location() = (int)error;
	return NULL;
}

/* Called by the library (ashlar.h): so the way to a block need not ask for NULL. */
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
	ash_release(p);
}

/* Called by the library (core/front/quick.h). */
void quick_null(void);
void quick_null(void)
{
	facade_tell(FACADE_FREE);
}

FLAT void *calloc(size_t count, size_t size)
{
	return ash_zalloc(count, size);
}

static REST void *realloc_rest(void *p, size_t size)
{
	facade_tell(FACADE_REALLOC);
	if (p == NULL)
		return ash_alloc(size);
	ash_release(p); /* as glibc does with size 0; the answer is no error */
	return NULL;
}

FLAT void *realloc(void *p, size_t size)
{
	if (unlikely(p == NULL) || unlikely(size == 0))
		return realloc_rest(p, size);
	return ash_resize(p, size);
}

/* Used: tools/ashlar-check looks for them, whoever calls them. */
void *facade_malloc(size_t size) __attribute__((used, alias("malloc")));
void *facade_calloc(size_t count, size_t size) __attribute__((used, alias("calloc")));
void *facade_realloc(void *p, size_t size) __attribute__((used, alias("realloc")));
void facade_free(void *p) __attribute__((used, alias("free")));

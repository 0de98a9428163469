/* SPDX-License-Identifier: MIT */
/* Linked with --wrap, in front of the calls: tells the plugin the blocks (marks.h). */
#include "marks.h"

#include <stddef.h>

void *__real_ash_alloc(size_t size), *__wrap_ash_alloc(size_t size);
void *__real_ash_zalloc(size_t n, size_t size), *__wrap_ash_zalloc(size_t n, size_t size);
void *__real_ash_aligned_alloc(size_t alignment, size_t size), *__wrap_ash_aligned_alloc(size_t alignment, size_t size);
void *__real_ash_resize(void *p, size_t size), *__wrap_ash_resize(void *p, size_t size);
void __real_ash_release(void *p), __wrap_ash_release(void *p);

static void *taken(void *p)
{
	if (p != NULL)
		MARK_BLOCK(MARK_TAKEN, p);
	return p;
}

static void given(void *p)
{
	if (p != NULL)
		MARK_BLOCK(MARK_GIVEN, p);
}

void *__wrap_ash_alloc(size_t size)
{
	return taken(__real_ash_alloc(size));
}

void *__wrap_ash_zalloc(size_t n, size_t size)
{
	return taken(__real_ash_zalloc(n, size));
}

void *__wrap_ash_aligned_alloc(size_t alignment, size_t size)
{
	return taken(__real_ash_aligned_alloc(alignment, size));
}

void *__wrap_ash_resize(void *p, size_t size)
{
	given(p);
	return taken(__real_ash_resize(p, size));
}

void __wrap_ash_release(void *p)
{
	given(p);
	__real_ash_release(p);
}

/* SPDX-License-Identifier: MIT */
/* The other allocation functions of C, POSIX and glibc. */
#include "cpu.h"
#include "facade.h"

#define PAGE ((size_t)1 << CPU_PAGE_SHIFT_MOST)

void *reallocarray(void *p, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return facade_fail(FACADE_ENOMEM);
	return facade_realloc(p, bytes);
}

static int is_power(size_t n)
{
	return (n ^ (n - 1)) > n - 1; /* not n & (n - 1), because compilers turn that into popcnt */
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return is_power(alignment) ? ash_aligned_alloc(alignment, size) : facade_fail(FACADE_EINVAL);
}

/* Returns the error number.  On failure *out is unchanged.  Without memory the call also sets errno. */
int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *p;

	if (!is_power(alignment) || alignment < sizeof(void *))
		return FACADE_EINVAL;
	p = ash_aligned_alloc(alignment, size);
	if (p == NULL)
		return FACADE_ENOMEM;
	*out = p;
	return 0;
}

/* Rounds any alignment up to a power of two, as glibc does. */
void *memalign(size_t alignment, size_t size)
{
	size_t power = 1;

	if (alignment > SIZE_MAX / 2 + 1)
		return facade_fail(FACADE_EINVAL);
	while (power < alignment)
		power *= 2;
	return ash_aligned_alloc(power, size);
}

void *valloc(size_t size)
{
	return ash_aligned_alloc(PAGE, size);
}

void *pvalloc(size_t size)
{
	if (size > SIZE_MAX - (PAGE - 1))
		return facade_fail(FACADE_ENOMEM);
	return ash_aligned_alloc(PAGE, (size + PAGE - 1) & ~(PAGE - 1));
}

size_t malloc_usable_size(void *p)
{
	diagnose_called("malloc_usable_size", p);
	return ash_usable_size(p);
}

size_t malloc_object_size(const void *p)
{
	return ash_object_size(p);
}

void cfree(void *p)
{
	diagnose_called("cfree", p);
	ash_release(p);
}

void free_sized(void *p, size_t size)
{
	ash_free_sized(p, size);
}

void free_aligned_sized(void *p, size_t alignment, size_t size)
{
	ash_free_aligned_sized(p, alignment, size);
}

/* SPDX-License-Identifier: MIT */
#include "back.h"

#include <stdbool.h>

#define IF_THERE __attribute__((weak))

IF_THERE int munmap(void *p, size_t bytes);
IF_THERE int madvise(void *p, size_t bytes, int advice);
IF_THERE void *mremap(void *p, size_t old, size_t bytes, int flags, ...);
IF_THERE int *__errno_location(void);
/*
 * Symbols that only glibc has: the first in its shared object, the second in crt1.o, because a static program has
 * only those parts of glibc that it calls.
 */
IF_THERE const char *gnu_get_libc_version(void);
extern IF_THERE const int _IO_stdin_used;

static bool is_glibc(void)
{
	return (gnu_get_libc_version != NULL || &_IO_stdin_used != NULL) && __errno_location != NULL;
}

/* Turns the result of a function into that of a system call, and restores errno. */
static long back_result(long r, int *error, int before)
{
	if (r == -1)
		r = *error > 0 ? -*error : -1;
	*error = before;
	return r;
}

long back_munmap(void *p, size_t bytes)
{
	int *error, before;

	if (munmap == NULL || !is_glibc())
		return arch_munmap(p, bytes);
	error = __errno_location();
	before = *error;
	return back_result(munmap(p, bytes), error, before);
}

long back_madvise(void *p, size_t bytes, long advice)
{
	int *error, before;

	if (madvise == NULL || !is_glibc())
		return arch_madvise(p, bytes, advice);
	error = __errno_location();
	before = *error;
	return back_result(madvise(p, bytes, (int)advice), error, before);
}

long back_mremap(void *p, size_t old, size_t bytes, long flags, void *target)
{
	int *error, before;

	if (mremap == NULL || !is_glibc())
		return arch_mremap(p, old, bytes, flags, target);
	error = __errno_location();
	before = *error;
	return back_result((long)mremap(p, old, bytes, (int)flags, target), error, before);
}

/* Uses the only one of the functions that leaves the range in place. */
void back_forget(void *p, size_t bytes)
{
	enum { MADV_DONTNEED = 4 };

	if (madvise != NULL && is_glibc())
		(void)back_madvise(p, bytes, MADV_DONTNEED);
}

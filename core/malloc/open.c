/* SPDX-License-Identifier: MIT */
/*
 * RTLD_DEEPBIND gives a library the C library's malloc and free, where all others have ours: the first block that
 * goes from one to the other ends the program.  So the flag does not reach dlopen.
 */
#include "facade.h"

#define NEXT	 ((void *)-1)
#define DEEPBIND 0x8

/*
 * glibc sees by the return address for whom it opens: whose RUNPATH counts, what $ORIGIN is.  So the last call of these
 * functions is a jump, as compilers make it from -O2 on.
 */
EXPORT void *dlopen(const char *name, int flags);
EXPORT void *dlmopen(long space, const char *name, int flags);
IF_PRESENT void *dlsym(void *handle, const char *name);

void *dlopen(const char *name, int flags)
{
	__typeof__(dlopen) *theirs = NULL;

	if (dlsym != NULL)
		theirs = (__typeof__(dlopen) *)dlsym(NEXT, "dlopen");
	if (theirs == NULL)
		return NULL;
	return theirs(name, flags & ~DEEPBIND);
}

void *dlmopen(long space, const char *name, int flags)
{
	__typeof__(dlmopen) *theirs = NULL;

	if (dlsym != NULL)
		theirs = (__typeof__(dlmopen) *)dlsym(NEXT, "dlmopen");
	if (theirs == NULL)
		return NULL;
	return theirs(space, name, flags & ~DEEPBIND);
}

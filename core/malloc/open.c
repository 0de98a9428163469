/* SPDX-License-Identifier: MIT */
/*
 * RTLD_DEEPBIND gives a library the C library's malloc and free, while all others have Ashlar's: the first block that
 * passes from one to the other ends the program.  So the flag does not reach dlopen.
 */
#include "facade.h"

#define NEXT	 ((void *)-1)
#define DEEPBIND 0x8

/*
 * glibc finds the caller of dlopen by the return address, and uses that caller's RUNPATH and $ORIGIN.  So the last
 * call of these functions is a jump, which compilers make from -O2 on.
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

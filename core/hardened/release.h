/* SPDX-License-Identifier: MIT */
/*
 * Releases of guarded blocks, for the calls by all names (release.c, free.c).  `call` and `name` are for reports of
 * misuse; `name` is malloc's name or NULL.
 */
#ifndef CORE_HARDENED_RELEASE_H
#define CORE_HARDENED_RELEASE_H

#include "base/bits.h"
#include "internal.h"

#define SIZE_UNTOLD (SIZE_MAX - 1) /* the size of no block, like SIZE_MAX, which a program may tell */

/*
 * Releases a guarded block; `size` is the size that the caller told.  Returns false if p is no guarded block.  The
 * first is for calls that should be fast.
 */
INTERNAL bool release_guarded(const char *call, const char *name, void *p, size_t size);
INTERNAL SLOW bool release_guarded_any(const char *call, const char *name, void *p, size_t size);

/* Releases a block of another heap, or NULL; reports any other pointer, and a told size or alignment that is wrong. */
INTERNAL SLOW void release_unguarded(const char *name, void *p);
INTERNAL SLOW void release_unguarded_told(const char *call, const char *name, void *p, size_t alignment, size_t size);

static inline bool release_is_aligned(const void *p, size_t alignment)
{
	return bits_is_power(alignment) && ((uintptr_t)p & (alignment - 1)) == 0;
}

#endif

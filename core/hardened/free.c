/* SPDX-License-Identifier: MIT */
/* The releasing calls of the hardened product for the names of malloc, in place of front/free.c. */
#include "base/misuse.h"
#include "front/free.h"
#include "hardened/release.h"

FAST void ash_free(void *p)
{
	if (!release_guarded(CALL_RELEASE, "free", p, SIZE_UNTOLD))
		release_unguarded("free", p);
}

FAST void ash_delete(void *p)
{
	if (!release_guarded(CALL_RELEASE, "operator delete", p, SIZE_UNTOLD))
		release_unguarded("operator delete", p);
}

FAST void ash_delete_sized(void *p, size_t size)
{
	if (!release_guarded(CALL_RELEASE_SIZED, "operator delete", p, size))
		release_unguarded_told(CALL_RELEASE_SIZED, "operator delete", p, 1, size);
}

FAST void ash_free_sized(void *p, size_t size)
{
	if (!release_guarded_any(CALL_RELEASE_SIZED, "free_sized", p, size))
		release_unguarded_told(CALL_RELEASE_SIZED, "free_sized", p, 1, size);
}

/* A release with an alignment; `name` is malloc's. */
static SLOW void release_told(const char *name, void *p, size_t alignment, size_t size)
{
	if (!release_is_aligned(p, alignment) || !release_guarded_any(CALL_RELEASE_SIZED, name, p, size))
		release_unguarded_told(CALL_RELEASE_ALIGNED, name, p, alignment, size);
}

FAST void ash_delete_aligned_sized(void *p, size_t size, size_t alignment)
{
	release_told("operator delete", p, alignment, size);
}

FAST void ash_free_aligned_sized(void *p, size_t alignment, size_t size)
{
	release_told("free_aligned_sized", p, alignment, size);
}

/* SPDX-License-Identifier: MIT */
/*
 * Ashlar as the malloc of a program with a libc.  Its functions are those of
 * <stdlib.h> and <malloc.h>, and declared there; this header adds two.
 */
#ifndef ASHLAR_MALLOC_H
#define ASHLAR_MALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns 1 if malloc, free and realloc of this process are Ashlar's, else 0: then
 * at least one is not, and mixing allocators will crash.  It calls these functions
 * in a way they can answer, so the result is what the linkers actually bound.
 * errno is kept.  It may be called from any thread and, if malloc is Ashlar's, from
 * signal handlers and forked children.
 */
int ashlar_is_malloc(void);

/*
 * Returns the bytes from p to the end of the block that contains p, which need not be its
 * start.  0: NULL, or memory of Ashlar in no live block.  SIZE_MAX: not Ashlar's memory, so
 * the size of the object is unknown.  From any thread, signal handler and forked child.
 */
size_t malloc_object_size(const void *p);

#ifdef __cplusplus
}
#endif
#endif

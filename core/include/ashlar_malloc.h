/* SPDX-License-Identifier: MIT */
/*
 * Ashlar as the malloc of a program with a libc.  Its functions are those of
 * <stdlib.h> and <malloc.h>, and declared there; this header adds one.
 */
#ifndef ASHLAR_MALLOC_H
#define ASHLAR_MALLOC_H

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

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * Ashlar as the malloc of a program with a libc.  Its functions are those of
 * <stdlib.h> and <malloc.h>, and declared there; this header adds two, and one of
 * libashlar_profile.so.
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

/*
 * Writes a heap profile now, as libashlar_profile.so does at exit (see ashlar-profile(1)).
 * Returns 1, or 0 if it cannot be written.  Only that library has this function.  The reference
 * is weak: without the library the address is NULL, and has to be compared first; a program
 * that is not position independent asks dlsym(RTLD_DEFAULT, "ashlar_profile_dump").  errno
 * is kept.  From any thread and signal handler.  (jemalloc: mallctl "prof.dump"; gperftools:
 * HeapProfilerDump.)
 */
int ashlar_profile_dump(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif
#endif

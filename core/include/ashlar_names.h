/* SPDX-License-Identifier: MIT */
/*
 * The interface of Ashlar's ancestor, for programs written for that allocator:
 *
 *     #include "ashlar_names.h"
 *     int main(void) {
 *             init_global_allocator(64);
 *             release(alloc(1024));
 *             return 0;
 *     }
 *
 * alloc, resize and release have the contracts of ash_alloc, ash_resize and ash_release.  release and
 * resize accept blocks of every heap.
 *
 * In objects they are called ash_names_..., so that a library may have a resize of its own.  A program
 * that was compiled with this header of 1.0, or declares these functions itself, refers to the plain
 * names: libashlar_names.a has them, and is linked before libashlar.a.
 */
#ifndef ASHLAR_NAMES_H
#define ASHLAR_NAMES_H

#include <stdbool.h>

#include "ashlar.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASH_NAMED(name) __asm__("ash_names_" name)

/*
 * From now on alloc(size) and resize(NULL, size) use a heap of num_chunks chunks of 2 MiB that this
 * process shares with the children it forks: all processes see the same blocks at the same addresses,
 * and any of them may release blocks that another process allocated (ash_heap_create_shared).  Address
 * space is reserved at once, memory is used where it is touched.  The heap does not grow: alloc returns
 * NULL when the heap is full.
 *
 * Before this call, or without it, alloc and resize use the default heap, which is private to each
 * process.  A second call has no effect and returns true.  Returns false if there is no memory, or
 * num_chunks is 0 or too large; then the default heap stays in use.
 */
bool init_global_allocator(size_t num_chunks) ASH_NAMED("init");

void *alloc(size_t size) ASH_NAMED("alloc") __attribute__((malloc, warn_unused_result));
void *resize(void *p, size_t size) ASH_NAMED("resize") __attribute__((warn_unused_result));
void release(void *p) ASH_NAMED("release");

#undef ASH_NAMED

#ifdef __cplusplus
}
#endif
#endif

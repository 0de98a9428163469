/* SPDX-License-Identifier: MIT */
/*
 * The names of the ancestor, for programs written for it:
 *
 *     #include "ashlar_names.h"
 *     int main(void) {
 *             init_global_allocator(64);
 *             release(alloc(1024));
 *             return 0;
 *     }
 *
 * Contracts are those of ashlar.h.  As there, release and resize find the heap
 * of a block by themselves: blocks of ashlar.h and ashlar_heap.h will do, too.
 */
#ifndef ASHLAR_NAMES_H
#define ASHLAR_NAMES_H

#include <stdbool.h>

#include "ashlar.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * From now on alloc, and resize of NULL, use a heap of num_chunks chunks of
 * 2 MiB that this process shares with the children it forks: all see the same
 * blocks at the same addresses, and any of them may release what another
 * allocated (ash_heap_create_shared).  Address space is taken at once, memory
 * where it is touched.  The heap does not grow: when it is full, NULL.
 *
 * Before, and if it is never called, they use the default heap, which each
 * process has for itself.  A second call changes nothing, and is true.  False:
 * no memory, num_chunks is 0, or the library is libashlar-st.a; the default
 * heap goes on.
 */
bool init_global_allocator(size_t num_chunks);

void *alloc(size_t size) __attribute__((malloc, warn_unused_result));
void *resize(void *p, size_t size) __attribute__((warn_unused_result));
void release(void *p);

#ifdef __cplusplus
}
#endif
#endif

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
 * Contracts are those of ashlar.h.
 */
#ifndef ASHLAR_NAMES_H
#define ASHLAR_NAMES_H

#include <stdbool.h>

#include "ashlar.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sizes the heap: reserves num_chunks chunks of 2 MiB of address space.
 * Before the first allocation; afterwards, and if it is never called, the
 * heap just grows by itself.  False: no address space.
 */
bool init_global_allocator(size_t num_chunks);

void *alloc(size_t size) __attribute__((malloc, warn_unused_result));
void *resize(void *p, size_t size) __attribute__((warn_unused_result));
void release(void *p);

#ifdef __cplusplus
}
#endif
#endif

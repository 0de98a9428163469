/* SPDX-License-Identifier: MIT */
/*
 * ash_release under the names of malloc, which declares these functions itself (core/malloc/facade.h).  Only malloc
 * is built with them.  They report misuse by the names of malloc and C++.
 */
#ifndef CORE_FREE_H
#define CORE_FREE_H

#include "internal.h"

INTERNAL void ash_free(void *p);
HIDDEN void ash_delete(void *p);
/*
 * For these, a size that belongs to another block than p is also misuse: in the cases that told_exactly checks (free.c),
 * and always in hardened products.
 */
HIDDEN void ash_delete_sized(void *p, size_t size);
HIDDEN void ash_delete_aligned_sized(void *p, size_t size, size_t alignment);
INTERNAL void ash_free_sized(void *p, size_t size);
INTERNAL void ash_free_aligned_sized(void *p, size_t alignment, size_t size);

#endif

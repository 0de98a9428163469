/* SPDX-License-Identifier: MIT */
/* What in a heap's file is not format 1 (store.h): its number. */
#ifndef CORE_CACHES_H
#define CORE_CACHES_H

#include <stdint.h>

#include "internal.h"

/*
 * The number of everything in the file that is not the truth: of all sizes, places and counts that
 * a process relies on.  It differs by the build, and by the CPU.
 */
INTERNAL uint64_t store_caches(void);

#endif

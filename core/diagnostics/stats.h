/* SPDX-License-Identifier: MIT */
/* The statistics of all heaps but arenas. */
#ifndef CORE_STATS_H
#define CORE_STATS_H

#include "backend/heap.h"

/* As ash_stats. */
INTERNAL void heap_stats(struct heap *h, struct ash_stats *out);

#endif

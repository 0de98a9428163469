/* SPDX-License-Identifier: MIT */
/* The statistics of all heaps but arenas. */
#ifndef CORE_STATS_H
#define CORE_STATS_H

#include "backend/heap.h"

/* As ash_stats. */
INTERNAL void heap_stats(struct heap *h, struct ash_statistics *out);

/* Figures of one slab: all 0 but the constants if it has gone meanwhile. */
struct stats_slab {
	unsigned class;
	size_t size; /* of a slot */
	size_t bytes, slots, taken, pending;
};
INTERNAL struct stats_slab stats_of_slab(const struct slab *s);

/* Counts the default heap by classes: the rows of ash_stats_class from `first` to `last`. */
struct class_rows {
	unsigned first, last;
	struct ash_class *rows;
};
INTERNAL void class_count(struct class_rows *to);

#endif

/* SPDX-License-Identifier: MIT */
/* Spans that are resized with an alignment. */
#ifndef CORE_SPAN_MOVE_H
#define CORE_SPAN_MOVE_H

#include "front/span.h"

/*
 * Resizes the span at p, in place or by moving pages, in a heap of one process; the result is
 * aligned.  NULL: not possible.
 */
INTERNAL void *span_aligned_resize(struct chunk *c, void *p, size_t bytes, size_t alignment);

#endif

/* SPDX-License-Identifier: MIT */
/* What every heap has that the program creates: an id and options of its own. */
#ifndef CORE_HEAP_SETUP_H
#define CORE_HEAP_SETUP_H

#include "ashlar_heap.h"
#include "backend/heap.h"

/* An id that no other heap of this process has, nor a shared heap of another process. */
INTERNAL uint64_t heap_new_id(bool shared);

/* Sets the heap's options: the program's, or the defaults, with this cap. */
INTERNAL void heap_configure(struct heap *h, size_t cap, const struct ash_heap_options *options);

#endif

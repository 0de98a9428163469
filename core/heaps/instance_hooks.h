/* SPDX-License-Identifier: MIT */
/* What the code of the default heap needs of other heaps: mostly, which one has a pointer; resizing. */
#ifndef CORE_INSTANCE_HOOKS_H
#define CORE_INSTANCE_HOOKS_H

#include "backend/heap.h"

INTERNAL_EXTERN const struct heap_hooks instance_hooks;

#endif

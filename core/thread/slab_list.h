/* SPDX-License-Identifier: MIT */
/* Lists of slabs, through their next and previous. */
#ifndef CORE_SLAB_LIST_H
#define CORE_SLAB_LIST_H

#include "internal.h"
#include "base/layout.h"

struct slabs {
	struct slab *head, *tail;
};

INTERNAL void slabs_append(struct slabs *l, struct slab *s);
INTERNAL void slabs_remove(struct slabs *l, struct slab *s);

#endif

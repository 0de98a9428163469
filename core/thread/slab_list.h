/* SPDX-License-Identifier: MIT */
/* Lists of slabs, through their next and previous. */
#ifndef CORE_SLAB_LIST_H
#define CORE_SLAB_LIST_H

#include "base/layout.h"

struct slabs {
	struct slab *head, *tail;
};

void slabs_append(struct slabs *l, struct slab *s);
void slabs_remove(struct slabs *l, struct slab *s);

#endif

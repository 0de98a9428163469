/* SPDX-License-Identifier: MIT */
/* What other threads released into the slabs of an owner, collected. */
#ifndef CORE_COLLECT_H
#define CORE_COLLECT_H

#include "internal.h"
#include "thread/owner.h"

/* Collects what others released (inbox.c): into one slab, what the inbox tells, or everything. */
INTERNAL void owner_collect_slab(struct owner *o, struct slab *s);
INTERNAL void owner_collect(struct owner *o);
INTERNAL void owner_collect_all(struct owner *o);

/* If the record is vacant and has inbox: collects, as a guest (inbox.c). */
INTERNAL void owner_visit(struct owner *o);

#endif

/* SPDX-License-Identifier: MIT */
/* What other threads released into the slabs of an owner, collected. */
#ifndef CORE_COLLECT_H
#define CORE_COLLECT_H

#include "thread/owner.h"

/* Collects what others released (inbox.c): into one slab, what the inbox tells, or everything. */
void owner_collect_slab(struct owner *o, struct slab *s);
void owner_collect(struct owner *o);
void owner_collect_all(struct owner *o);

/* If the record is vacant and has inbox: collects, as a guest (inbox.c). */
void owner_visit(struct owner *o);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Collecting: the holder of a record moves the remote bits of its slabs to their free
 * words (slab_collect), and each slab to the list where it then belongs (settle.h).
 */
#ifndef CORE_COLLECT_H
#define CORE_COLLECT_H

#include "internal.h"
#include "thread/owner.h"

/*
 * From one slab, if the record has it; or from the slabs that the inbox names, if it has new
 * entries.  For the holder.
 */
INTERNAL void collect_slab(struct owner *o, struct slab *s);
INTERNAL void collect_inbox(struct owner *o);

#endif

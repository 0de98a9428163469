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

/*
 * Holds the record as a guest and collects from its inbox, as long as it is vacant and was notified.
 * For the thread that vacated the record.
 */
INTERNAL void collect_vacant(struct owner *o);

/* Vacates a record that the caller holds, and that. */
INTERNAL void collect_leave(struct owner *o);

/*
 * Holds a vacant record as a guest and collects from one slab: for the thread that released the last
 * taken slot of a group of it.  What else the inbox names waits for the next holder, as no other
 * slab is empty.  If another guest holds the record, one of the two collects all.
 */
INTERNAL void collect_visit(struct owner *o, struct slab *s);

#endif

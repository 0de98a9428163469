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
 * From one slab, or from the slabs that the inbox names.  For the holder.
 */
INTERNAL void collect_slab(struct owner *o, struct slab *s);
INTERNAL void collect_inbox(struct owner *o);

/* collect_inbox, if a thread has made an entry since the last time. */
static inline void collect_notified(struct owner *o)
{
	/* Relaxed: what is missed now is found the next time. */
	if (unlikely(load_relaxed(&o->notified) != 0))
		collect_inbox(o);
}

/*
 * Holds the record as a guest and collects, as long as it is vacant and its inbox has
 * entries.  For any thread that made an entry or vacated the record.
 */
INTERNAL void collect_vacant(struct owner *o);

#endif

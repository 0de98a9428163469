/* SPDX-License-Identifier: MIT */
/*
 * Visits to vacant records.  A thread that has work for a record that no thread holds takes it as a
 * guest (holder.h), does that work, and vacates it again; none waits for a record that is held.
 */
#ifndef CORE_VISIT_H
#define CORE_VISIT_H

#include "internal.h"
#include "thread/owner.h"

/*
 * Holds the record as a guest and collects from its inbox, as long as it is vacant and was notified.
 * For the thread that vacated the record.
 */
INTERNAL void visit_vacant(struct owner *o);

/* Vacates a record that the caller holds, and then visits it if that is due. */
INTERNAL void visit_end(struct owner *o);

/*
 * Holds a vacant record as a guest and collects from one slab: for the thread that released the last
 * taken slot of a group of it.  What else the inbox names waits for the next holder, as no other
 * slab is empty.  If another guest holds the record, one of the two collects all.
 */
INTERNAL void visit_slab(struct owner *o, struct slab *s);

/* Collects and shrinks all vacant records of the heap.  For any thread. */
INTERNAL void visit_all(struct heap *h);

#endif

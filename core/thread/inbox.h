/* SPDX-License-Identifier: MIT */
/*
 * The inbox of an owner record: which of its slabs have remote bits (slots that threads
 * other than the owner released, slab/slab.h).
 *
 *   releasing thread                          owner (collects)
 *   1  sets the slot's remote bit             1  takes the entry out of the inbox
 *   2  sets the slab's pending bit            2  clears the pending bit
 *   3  if that was not set: enters it         3  moves the remote bits to the free words
 *
 *   notified          ENTRY   an entry was made since collect_inbox began
 *                     MISSED  a thread wanted to visit the vacant record, which a guest held
 *   words  0 ... 1    a bit for each class: some slab of the class has its pending bit set
 *          2 ... 33   an entry: the address of a slab, or 0
 *
 * The address of a slab is entered into one of four words that it hashes to.  If all four
 * have entries of other slabs, the bit of the slab's class is set instead.  Entries and
 * bits are hints: what is lost when a thread stops before step 3, turns find (shrink.h).
 */
#ifndef CORE_INBOX_H
#define CORE_INBOX_H

#include "internal.h"
#include "thread/owner.h"

#define INBOX_ENTRY  ((uint64_t)1)
#define INBOX_MISSED ((uint64_t)2)

/* Steps 2 and 3: sets the pending bit and, if it was not set, enters the slab.  For any thread. */
INTERNAL void inbox_notify(struct slab *s);

/*
 * Collecting: the holder of a record moves the remote bits of its slabs to their free
 * words (slab_collect), and each slab to the list where it then belongs (settle.h).
 * From one slab, if the record has it; or from the slabs that the inbox names, if it has new
 * entries.
 */
INTERNAL void collect_slab(struct owner *o, struct slab *s);
INTERNAL void collect_inbox(struct owner *o);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Attaching to a heap that others left.  What the file has of owner records (lists, bins,
 * spares, inboxes) is only a hint of the last process that worked there: a record is rebuilt
 * from what is in the slabs (takeover.h) before anything of it is followed.
 *
 *   a record with         is rebuilt
 *   a holder that died    always
 *   no holder             unless a living process is attached, whose lists are right
 *   a living holder       never; it is not touched
 *
 * A life in the file proves nothing: the file may be a copy, or an older state of it that was
 * written back.  So a living process counts as attached only if the kernel says that it has
 * this file mapped at the heap's address.  If that cannot be read, the records are rebuilt.
 */
#ifndef CORE_REATTACH_H
#define CORE_REATTACH_H

#include "shm/store.h"

/*
 * True: this is a copy (file: the identity of the file) of a heap in which others were working:
 * its pages may be of different moments.  s: mapped.
 */
INTERNAL bool reattach_is_torn(struct store *s, uint64_t file);

/* Rebuilds the records.  Before any of them is used by the calling process. */
INTERNAL void reattach(struct store *s, uint64_t file);

#endif

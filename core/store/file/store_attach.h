/* SPDX-License-Identifier: MIT */
/* Attaching to the store in a file. */
#ifndef CORE_STORE_ATTACH_H
#define CORE_STORE_ATTACH_H

#include "store/file/store.h"

/*
 * Reads the head of the heap in the file.  False: *why is the reason.  True: each word that
 * follows from its address and size is right.
 */
INTERNAL bool store_look(int fd, struct store *head, enum ash_attach *why);

/*
 * The store in a file, whose identity *file becomes, for reattach; NULL: *why is the reason.
 * ASH_ATTACH_NO_HEAP: one may be made there.
 */
INTERNAL struct store *store_attach(int fd, const struct layout *layout, uint64_t *file, enum ash_attach *why);

/* Makes the caller's namespaces those of the heap in the file, to which no process is attached. */
INTERNAL bool store_adopt(int fd);

/* Seals the heap in a torn file (seal.h).  False: no heap of this version, or the write failed. */
INTERNAL bool store_vouch(int fd);

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

/*
 * True: this is a copy (file: the identity of the file) of a heap in which others were working:
 * its pages may be of different moments.  s: mapped.
 */
INTERNAL bool reattach_is_torn(struct store *s, uint64_t file);

/* Rebuilds the records.  Before any of them is used by the calling process. */
INTERNAL void reattach(struct store *s, uint64_t file);

#endif

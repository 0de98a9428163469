/* SPDX-License-Identifier: MIT */
/* Attaching to the store in a file. */
#ifndef CORE_STORE_ATTACH_H
#define CORE_STORE_ATTACH_H

#include "shm/store.h"

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

#endif

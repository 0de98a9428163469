/* SPDX-License-Identifier: MIT */
/*
 * Whether the heap in a file may be used.
 *
 * A file may have been written by another program, a failing disk or an attacker.  So
 * before it is mapped, each word that the allocator follows is checked: it must have the
 * one value it can have, or be the address of the right thing in the heap.  What is
 * trusted are the bits that say taken or free, counts, hints that only cost time when
 * wrong, and the contents of blocks.
 *
 *   image_records   store, owner records, inboxes, hints
 *   image_chunks    chunk records, spans
 *   image_slabs     units and slab records
 *   image_lists     slab lists of vacant records
 */
#ifndef CORE_IMAGE_CHECK_H
#define CORE_IMAGE_CHECK_H

#include "shm/store.h"

/*
 * head: as read from the file, where the words that store_set writes were compared.
 * mapped: the file is read there, if it is mapped anywhere; NULL: by fd.
 * False: *why is ASH_ATTACH_NO_HEAP, or ASH_ATTACH_NO_MEMORY.
 */
INTERNAL bool image_check(int fd, const char *mapped, const struct store *head,
			  enum ash_attach *why);

#endif

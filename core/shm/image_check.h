/* SPDX-License-Identifier: MIT */
/*
 * Whether the heap in a file may be used.
 *
 * A file may have been written by another program, a failing disk or an attacker.  So
 * before it is mapped, each word that the allocator follows is checked: it must have the
 * one value it can have, or be the address of the right thing in the heap.  What is
 * trusted are the bits that say taken or free, counts, hints that only cost time when
 * wrong, and the contents of blocks.  What is in bins, lists, spares and inboxes is not looked
 * at: it is rebuilt, see store_attach.h.
 *
 *   image_records_check   store, the list of owner records, what these have in flight (image.h)
 *   image_chunks_check    chunk records, spans
 *   slabs_are_right       units and slab records
 */
#ifndef CORE_IMAGE_CHECK_H
#define CORE_IMAGE_CHECK_H

#include "shm/image.h"
#include "shm/store.h"

/*
 * head: as read from the file, where the words that store_set writes were compared.
 * False: *why is ASH_ATTACH_NO_HEAP, or ASH_ATTACH_NO_MEMORY.
 */
INTERNAL bool image_check(int fd, const struct store *head, enum ash_attach *why);

/* True: all chunks are valid.  m->bits was read. */
INTERNAL bool image_chunks_check(struct image *m);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Whether the heap in a file may be used.
 *
 * A file is what somebody wrote: another program, a failing disk, an attacker.
 * So before it is attached each word that the allocator follows is looked at:
 * it must be what it has to be, or lead to something in the heap.  What is
 * believed are the bits that say taken or free, counts, hints that only cost
 * time, and the blocks themselves.
 *
 * It is read and not mapped: to look at a page that was never written costs no
 * memory, and a file that is cut short or a full disk no signal.  Others may be
 * at work in the heap: what looks wrong is looked at again.
 */
#ifndef CORE_SOUND_H
#define CORE_SOUND_H

#include "internal.h"
#include "shm/store.h"

/*
 * head: read from the file; what store_set writes has been compared.  False: *why
 * is ASH_ATTACH_NO_HEAP, or ASH_ATTACH_NO_MEMORY.
 */
INTERNAL bool sound(int fd, const struct store *head, enum ash_attach *why);

#endif

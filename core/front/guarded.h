/* SPDX-License-Identifier: MIT */
/*
 * What becomes of guarded blocks (guard.h).  call, name: for misuse; name: malloc's, or NULL.  have: the bytes of the
 * slot or span (block_guarded).
 *
 * A released block of a slot is not free yet: it waits in the quarantine of its releaser's record, by class.
 *
 *   release:  check, clear  -->  [places, filled in turn]  -->  the one whose place it gets becomes free
 *
 * To the bitmaps it is a taken slot.  It waits until at least half as many others of its class were released by
 * its thread as there are places.  The record keeps its quarantine if its thread ends without detach, for the next
 * thread that takes it.  A handler that leaves the exchange by a jump, and a fork in it (in the child), lose one
 * slot at most.
 */
#ifndef CORE_GUARDED_H
#define CORE_GUARDED_H

#include "ashlar.h"
#include "internal.h"

struct slab;

/*
 * Releases a block.  size: what was told.  Returns the slot or span that is to be free now, this one or another, or
 * NULL; heap_hooks has been told.
 */
#define SIZE_UNTOLD (SIZE_MAX - 1) /* no block has it, nor has one SIZE_MAX, which a program may tell */
HARDENED void *guarded_end_any(const char *call, const char *name, void *p, size_t size, size_t have);
/* guarded_end_any for a block in a slab of the caller's record, of a class from 1 to CLASS_ONE; heap_hooks is NULL. */
HARDENED void *guarded_end(const char *call, const char *name, void *p, size_t size, const struct slab *s);

/* Resizes a block.  alignment: see resize.h.  NULL: no memory, or not possible in place. */
HARDENED __attribute__((noinline)) void *guarded_resize(const char *call, const char *name, void *p, size_t alignment, size_t size, size_t have);

/* Corrects what ash_find says of a taken slot of this slab, or (NULL) a span.  sure: see guard_peek. */
HARDENED void guarded_look(struct ash_block *b, const struct slab *s, bool sure);

#endif

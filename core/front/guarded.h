/* SPDX-License-Identifier: MIT */
/*
 * Releasing and resizing guarded blocks (guard.h).  `call` and `name` are for reports of misuse; `name` is malloc's
 * name or NULL.  `have` is the bytes of the slot or span (block_guarded).
 *
 * A released block of a slot is not free yet: the block waits in the quarantine of its releaser's record, by class.
 *
 *   release:  check, clear  -->  [places, filled in turn]  -->  the block that had this place becomes free
 *
 * For the bitmaps the slot is taken.  The block waits until its thread has released at least half as many other
 * blocks of this class as there are places.  If the thread ends without detach, the record keeps the quarantine for
 * the next thread that takes the record.  A handler that leaves the exchange by a jump, and a fork in the exchange
 * (in the child), lose at most one slot.
 */
#ifndef CORE_GUARDED_H
#define CORE_GUARDED_H

#include "ashlar.h"
#include "internal.h"

struct slab;

/*
 * Releases a block.  `size` is the size that the caller told.  Returns the slot or span that becomes free now, which
 * may be another, or NULL.  Calls heap_hooks before.
 */
#define SIZE_UNTOLD (SIZE_MAX - 1) /* the size of no block, like SIZE_MAX, which a program may tell */
HARDENED void *guarded_end_any(const char *call, const char *name, void *p, size_t size, size_t have);
/*
 * guarded_end_any for a block in a slab of the caller's record, of a class from 1 to CLASS_ONE, while heap_hooks is
 * NULL.
 */
HARDENED void *guarded_end(const char *call, const char *name, void *p, size_t size, const struct slab *s);

/* Resizes a block.  For `alignment` see resize.h.  Returns NULL if there is no memory or no place to grow. */
HARDENED __attribute__((noinline)) void *guarded_resize(const char *call, const char *name, void *p, size_t alignment, size_t size, size_t have);

/* Corrects the result of ash_find for a taken slot of this slab, or for a span if s is NULL.  For `sure` see guard_peek. */
HARDENED void guarded_look(struct ash_block *b, const struct slab *s, bool sure);

#endif

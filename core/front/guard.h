/* SPDX-License-Identifier: MIT */
/*
 * Guarded blocks, of the hardened products (sys/build.h): the block's size and a check word in its slack.
 *
 *   slot, span   |<------ size ------>|m|0 0 0 0 0 0|word|
 *                p                    p + size      p + have - 8
 *
 *   word    the slack (have - size), and above it a hash of this, the address and a secret; never 0 in a
 *           live block.  0: the block was released
 *   m       the mark: a byte of the hash, from 128 on, where the slack is more than the word
 *
 * Free memory of the default heap reads zero: a block is cleared when it is released, and a slot that is
 * not zero when it is handed out was written meanwhile.  A block of size 0 has nothing of this: its
 * class, of 8 bytes, is for such blocks alone, and its slabs are without access (slab_fence).
 */
#ifndef CORE_GUARD_H
#define CORE_GUARD_H

#include "base/bits.h"
#include "internal.h"

#define GUARD_BYTES sizeof(uint64_t)

#if IS_HARDENED
/* Reports a slot of `have` bytes that does not read zero.  clean: it is fresh from the kernel. */
INTERNAL void guard_fresh(void *p, size_t have, bool clean);

/* Makes the zeroed slot or span a block of this size, at most have - GUARD_BYTES. */
INTERNAL void guard_set(void *p, size_t size, size_t have);

/* The size of a live block; misuse by `call` if it was released, or written behind its end.  name: malloc's, or NULL. */
INTERNAL size_t guard_size(const char *call, const char *name, const void *p, size_t have);

/* Takes away what guard_set wrote: the block can be resized. */
INTERNAL void guard_lift(void *p, size_t size, size_t have);
/* Clears the block; misuse by `call` if another thread released it since guard_size. */
INTERNAL void guard_clear(const char *call, const char *name, void *p, size_t size, size_t have);

/* The block's size; SIZE_MAX: it has none, as it was released or is damaged.  For walks, beside other threads. */
INTERNAL size_t guard_peek(const void *p, size_t have, bool *damaged);
#else
#define guard_fresh(p, have, clean) ((void)0)
#endif

#endif

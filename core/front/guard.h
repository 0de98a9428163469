/* SPDX-License-Identifier: MIT */
/*
 * Guarded blocks, of the hardened products (sys/build.h): the block's size and a check word in its slack.
 *
 *   slot, span   |<------ size ------>|m|0 0 0 0 0 0|word|
 *                p                    p + size      p + have - 8
 *
 *   word    the slack (have - size), and above it a hash of slack, address and a secret; never 0 in a
 *           live block, and 0 once the block was released
 *   m       the mark: a byte of the hash, from 128 on, where the slack is more than the word
 *
 * Free memory of the default heap reads zero: a block is cleared on release, so memory that is handed out or purged
 * and is not zero was written after a release.  A block of size 0 has neither word nor mark: its class, of 8 bytes,
 * is for such blocks alone, and its slabs are without access (slab_fence).
 */
#ifndef CORE_GUARD_H
#define CORE_GUARD_H

#include "base/bits.h"
#include "internal.h"

struct slab;

#define CLASS_APART (CLASS_ONE + 2 * CLASS_PARTS) /* up to 128 KiB: larger blocks have regions of their own while regions are few */
#define SLOT_APART  (4 * SLOT_LARGE)

#define GUARD_BYTES ((size_t)IS_HARDENED * sizeof(uint64_t))

/* Returns the bytes that a block of this size needs with the word.  A size that is too large stays unchanged. */
static inline size_t guard_bytes(size_t size)
{
	return IS_HARDENED && size > 0 && size <= PTRDIFF_MAX ? size + GUARD_BYTES : size;
}

/*
 * Makes a slot or span a block of this size, which is not 0, and reports misuse if the memory does not read zero.
 * clean: there may be no memory yet.
 */
HARDENED void guard_new(void *p, size_t size, size_t have, bool clean);
/* Reports misuse if this slot does not read zero.  p may be NULL. */
HARDENED void guard_zero(const void *p, size_t have);
/*
 * Returns the size of a live block.  Reports misuse by `call` if the block was released or was written behind its
 * end.  `name` is malloc's name of the call, or NULL.
 */
HARDENED size_t guard_size(const char *call, const char *name, const void *p, size_t have);

HARDENED _Noreturn void guard_report(const char *call, const char *name, const void *p, const char *fault, size_t have);

/* Removes the word of a block.  Reports misuse if another thread removed the word. */
HARDENED void guard_take(const char *call, const char *name, void *p, size_t have);
/*
 * guard_lift removes word and mark before a block changes size, and reports misuse like guard_take.  guard_set writes
 * them again.
 */
HARDENED void guard_lift(const char *call, const char *name, void *p, size_t size, size_t have);
HARDENED void guard_set(void *p, size_t size, size_t have);

/*
 * Returns the size of a block, for walks.  Returns SIZE_MAX if the block was released or is damaged; if damaged,
 * *damaged is set.  s is the slab, or NULL for a span.  For spans and slabs of other threads, the result is the
 * largest possible size, because their memory may go during the call, unless the caller is `sure` that the block is
 * live.
 */
HARDENED size_t guard_peek(const struct slab *s, const void *p, size_t have, bool sure, bool *damaged);

#endif

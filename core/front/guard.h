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
 * Free memory of the default heap reads zero: a block is cleared when it is released, and what is not zero when it is
 * handed out, or purged, was written meanwhile.  A block of size 0 has nothing of this: its
 * class, of 8 bytes, is for such blocks alone, and its slabs are without access (slab_fence).
 */
#ifndef CORE_GUARD_H
#define CORE_GUARD_H

#include "base/bits.h"
#include "internal.h"

struct slab;

#define CLASS_APART (CLASS_ONE + 2 * CLASS_PARTS) /* up to 128 KiB: larger blocks stand apart, while few regions do */
#define SLOT_APART  (4 * SLOT_LARGE)

#define GUARD_BYTES ((size_t)IS_HARDENED * sizeof(uint64_t))

/* The bytes that a block of this size needs with its word; too large a size stays as it is. */
static inline size_t guard_bytes(size_t size)
{
	return IS_HARDENED && size > 0 && size <= PTRDIFF_MAX ? size + GUARD_BYTES : size;
}

/* Makes a slot or span that is handed out a block of this size, not 0; misuse if it does not read zero.  clean: it has perhaps no memory yet. */
HARDENED void guard_new(void *p, size_t size, size_t have, bool clean);
/* Misuse if this slot does not read zero; NULL: there is none. */
HARDENED void guard_zero(const void *p, size_t have);
/* The size of a live block; misuse by `call` if it was released, or written behind its end.  name: malloc's, or NULL. */
HARDENED size_t guard_size(const char *call, const char *name, const void *p, size_t have);

HARDENED _Noreturn void guard_report(const char *call, const char *name, const void *p, const char *fault, size_t have);

/* Takes a block's word away, misuse if another thread did. */
HARDENED void guard_take(const char *call, const char *name, void *p, size_t have);
/* Before and after a block changes its size: the same, and its mark; writes them again. */
HARDENED void guard_lift(const char *call, const char *name, void *p, size_t size, size_t have);
HARDENED void guard_set(void *p, size_t size, size_t have);

/*
 * The size of a block, for walks; SIZE_MAX: it has none, as it was released, or (*damaged is set then) is damaged.  s: its
 * slab, NULL: a span.  Of spans and other threads' slabs what the block can have, as their memory may go meanwhile; not
 * so if the caller is `sure` that it is live.
 */
HARDENED size_t guard_peek(const struct slab *s, const void *p, size_t have, bool sure, bool *damaged);

#endif

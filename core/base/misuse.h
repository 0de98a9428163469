/* SPDX-License-Identifier: MIT */
/* Misuse: prints one fixed line that names function, pointer and fault, and traps. */
#ifndef CORE_MISUSE_H
#define CORE_MISUSE_H

#include "base/layout.h"
#include "internal.h"

/* The public function that was misused. */
enum call {
	CALL_RELEASE,
	CALL_RELEASE_SIZED,
	CALL_RESIZE,
	CALL_USABLE_SIZE,
	CALL_HEAP_DESTROY,
	CALL_HEAP /* any other call on a heap; the pointer is the heap's */
};

/*
 * Prints
 *     ashlar: function(0xpointer): fault[, 48-byte block]
 * and traps.  bytes is 0 if no block is known.
 */
INTERNAL _Noreturn void misuse_report(enum call call, const void *p, const char *fault, size_t bytes);

/* A call on a heap got a block that is not of this heap. */
INTERNAL _Noreturn void misuse_heap(enum call call, const void *p);

/* A second release of a slot, detected when its bits are collected or used again. */
INTERNAL _Noreturn void misuse_double(const struct slab *s, unsigned group, unsigned bit);

/* ash_release_sized got a size larger than the block. */
INTERNAL _Noreturn void misuse_size(const void *p, size_t bytes);

#endif

/* SPDX-License-Identifier: MIT */
/* Misuse: one fixed line that names function, pointer and fault, then the end. */
#ifndef CORE_MISUSE_H
#define CORE_MISUSE_H

#include "base/layout.h"

/* The public function that was misused. */
enum call {
	CALL_RELEASE,
	CALL_RELEASE_SIZED,
	CALL_RESIZE,
	CALL_USABLE_SIZE,
	CALL_HEAP_DESTROY,
	CALL_HEAP /* any other call for a heap; the pointer is the heap's */
};

/*
 * The line, and the end:
 *     ashlar: function(0xpointer): fault[, 48-byte block]
 * bytes 0: no block to speak of.
 */
_Noreturn void misuse_report(enum call call, const void *p, const char *fault, size_t bytes);

/* A call for one heap, with a block of another or of none. */
_Noreturn void misuse_heap(enum call call, const void *p);

/* A slot found released twice when its remote bit was collected. */
_Noreturn void misuse_double(const struct slab *s, unsigned group, unsigned bit);

/* ash_release_sized with a size the block cannot have. */
_Noreturn void misuse_size(const void *p, size_t bytes);

#endif

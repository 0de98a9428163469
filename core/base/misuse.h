/* SPDX-License-Identifier: MIT */
/* Misuse: prints one fixed line that names function, pointer and fault, and ends the process. */
#ifndef CORE_MISUSE_H
#define CORE_MISUSE_H

#include "base/bits.h"
#include "base/layout.h"
#include "internal.h"

/* The public function that was misused: ash_release, ash_heap_release, ... */
enum call {
	CALL_RELEASE,
	CALL_RELEASE_SIZED,
	CALL_RESIZE,
	CALL_USABLE_SIZE,
	CALL_HEAP = 8, /* added to one of the above for ash_heap_... */
	CALL_HEAP_RELEASE = CALL_HEAP,
	CALL_HEAP_RELEASE_SIZED,
	CALL_HEAP_RESIZE,
	CALL_HEAP_USABLE_SIZE,
	CALL_HEAP_DESTROY,
	CALL_HEAP_ANY /* the pointer is the heap's */
};

/* What a second release of the same block is called by this function. */
static inline const char *call_again(enum call call)
{
	return call % CALL_HEAP <= CALL_RELEASE_SIZED ? "double free" : "block already released";
}

/*
 * Prints
 *     ashlar: ash_release(0x7f0000000010): interior pointer, 48-byte block at 0x7f0000000000
 * and ends the process (panic.h).  If the pointer is not in the block, the line says how far
 * it is from it.  start is NULL if no block is known: the line ends with the fault.
 */
INTERNAL _Noreturn void misuse_report(enum call call, const void *p, const char *fault,
				      const void *start, size_t bytes);

/* A call on a heap got a block that is not of this heap. */
INTERNAL _Noreturn void misuse_heap(enum call call, const void *p);

/* A second release of a slot, detected when its bits are collected or used again. */
INTERNAL _Noreturn void misuse_double(const struct slab *s, unsigned group, unsigned bit);

/* The size that was given is larger than the block at p, which has so many bytes. */
INTERNAL _Noreturn void misuse_size(enum call call, const void *p, size_t bytes);

/*
 * A function with a name of malloc was called with this pointer: if that is misuse, the
 * line has this name.  For paths that are not fast.
 */
#ifdef ASHLAR_MALLOC
INTERNAL void misuse_called(const char *name, const void *p);
#endif

#endif

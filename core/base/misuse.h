/* SPDX-License-Identifier: MIT */
/* Misuse: prints one fixed line that names function, pointer and fault, and ends the process. */
#ifndef CORE_MISUSE_H
#define CORE_MISUSE_H

#include "base/bits.h"
#include "internal.h"

/*
 * A call: the public function that was misused, as its name without ash_.  The first character is not
 * printed: '-' if the function releases the block, otherwise '='.  So a program links the names of only those
 * functions that it calls.
 */
#define CALL_ALLOC		  "=alloc"
#define CALL_RELEASE		  "-release"
#define CALL_RELEASE_SIZED	  "-release_sized"
#define CALL_RELEASE_ALIGNED	  "-release_aligned_sized"
#define CALL_RESIZE		  "=resize"
#define CALL_ALIGNED_RESIZE	  "=aligned_resize"
#define CALL_EXPAND		  "=expand"
#define CALL_USABLE_SIZE	  "=usable_size"
#define CALL_HEAP_RELEASE	  "-heap_release"
#define CALL_HEAP_RELEASE_SIZED	  "-heap_release_sized"
#define CALL_HEAP_RELEASE_ALIGNED "-heap_release_aligned_sized"
#define CALL_HEAP_RESIZE	  "=heap_resize"
#define CALL_HEAP_ALIGNED_RESIZE  "=heap_aligned_resize"
#define CALL_HEAP_EXPAND	  "=heap_expand"
#define CALL_HEAP_USABLE_SIZE	  "=heap_usable_size"
#define CALL_HEAP_DESTROY	  "=heap_destroy"
#define CALL_HEAP_ANY		  "=heap_..." /* the pointer is the heap's */

/* The fault of a write that is found when the memory is used, or purged. */
#define MISUSE_AFTER "written after its release"

/* Returns the fault that this function reports for a block that was released before. */
static inline const char *call_again(const char *call)
{
	return *call == '-' ? "double free" : "block already released";
}

/*
 * Prints
 *	ashlar: ash_release(0x7f0000000010): interior pointer, 48-byte block at 0x7f0000000000
 * and ends the process (panic.h).  If the pointer is not in the block, the line gives its distance from the
 * block.  If start is NULL, no block is known, and the line ends with the fault.
 */
INTERNAL _Noreturn void misuse_report(const char *call, const void *p, const char *fault,
				      const void *start, size_t bytes);

/* Reports that a call on a heap got a block that is not of this heap. */
INTERNAL _Noreturn void misuse_heap(const char *call, const void *p);

/* Reports that the given size is larger than the block at p, which has `bytes` bytes. */
INTERNAL _Noreturn void misuse_size(const char *call, const void *p, size_t bytes);

/*
 * Checks the size and alignment that a call was told of the block at p, which has `bytes` bytes.  Returns if
 * the block can have them, or p is NULL; otherwise reports misuse.  An aligned block may have a larger class
 * than its size alone requires, so only a size that the block cannot hold is certainly wrong.
 */
INTERNAL void misuse_unless_fits(const char *call, const void *p, size_t bytes, size_t alignment, size_t size);

/*
 * Notes that a function with a name of malloc was called with this pointer: if that is misuse, the line has
 * this name.  For paths that are not fast.  Does nothing in products other than malloc's.
 */
INTERNAL void misuse_called(const char *name, const void *p);

#endif

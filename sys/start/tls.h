/* SPDX-License-Identifier: MIT */
/*
 * Thread-local storage of a static program, at offsets from the thread pointer that the linker has fixed.  A CPU has
 * one of the two variants of the ELF TLS document (start.h):
 *
 *	II    block                            thread pointer
 *	      | .tdata | .tbss, zero | padding | self |
 *	                                         +-> its own address
 *
 *	I     thread pointer      block
 *	      | gap, zero | padding | .tdata | .tbss, zero |
 *
 * The thread pointer has the alignment of the segment; the linker assumes the padding that also aligns the block.
 */
#ifndef START_TLS_H
#define START_TLS_H

#include "image.h"

/* The contents of the PT_TLS header.  They are read again for each thread, so they need no set-up. */
struct tls {
	const void *image;     /* initial values                                    */
	size_t image_size;     /* of .tdata                                         */
	size_t block;          /* from the thread pointer to the block, or back     */
	size_t alignment_mask; /* of the thread pointer                             */
	size_t bytes;          /* of memory that tls_build needs, at any alignment  */
};

INTERNAL void tls_of(const struct image *i, struct tls *t);
INTERNAL void tls_here(struct tls *t);

/* Fills the memory (zeroed by the caller) and returns the thread pointer. */
INTERNAL void *tls_build(const struct tls *t, void *memory);

#endif

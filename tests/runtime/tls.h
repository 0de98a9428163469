/* SPDX-License-Identifier: MIT */
/*
 * Thread-local storage of a static program, at offsets from the thread pointer that
 * the linker has fixed.  Of the two variants of the ELF TLS document a CPU has one (abi.h):
 *
 *	II    block                            thread pointer
 *	      | .tdata | .tbss, zero | padding | self |
 *	                                         +-> its own address
 *
 *	I     thread pointer      block
 *	      | gap, zero | padding | .tdata | .tbss, zero |
 *
 * The thread pointer has the alignment of the segment; the linker assumes the
 * padding that also aligns the block.
 */
#ifndef RT_TLS_H
#define RT_TLS_H

#include <stddef.h>
#include <stdint.h>

/* Finds the PT_TLS program header; to be called once, before the others. */
void tls_init(void);

/* Bytes that tls_build needs, at any alignment. */
size_t tls_size(void);

/* Fills the memory (zeroed by the caller) and returns the thread pointer. */
void *tls_build(void *memory);

#endif

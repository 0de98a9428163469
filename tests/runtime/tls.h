/* SPDX-License-Identifier: MIT */
/*
 * Thread-local storage of a static x86_64 program (variant II of the ELF TLS
 * document): the block ends at the thread pointer, offsets are negative and
 * fixed by the linker.
 *
 *	block                              thread pointer (%fs)
 *	  | .tdata | .tbss, zero | padding | self |
 *	                                     |
 *	                                     +-> its own address, so that code
 *	                                         can load the pointer by %fs:0
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

/* SPDX-License-Identifier: MIT */
/* The program as the kernel mapped it: its headers, its address, its relocations (ELF). */
#ifndef START_IMAGE_H
#define START_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal.h"

struct program_header {
	uint32_t type, flags;
	uint64_t offset, address, physical, file_size, memory_size, alignment;
};

struct image {
	uintptr_t base; /* added to the addresses of the headers; 0 at a fixed place */
	const struct program_header *dynamic, *tls; /* NULL if there is no such header     */
};

/*
 * Finds the program by the linker's symbol for the ELF header, __ehdr_start, so that programs with a start of their
 * own need not pass anything on.
 */
INTERNAL void image_here(struct image *i);

/*
 * Relocates a position independent program.  Until then no object that holds an address may be read.  Returns false
 * if the program needs a relocation other than of its own addresses, such as an ifunc's.
 */
INTERNAL bool image_relocate(const struct image *i);

#endif

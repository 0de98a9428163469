/* SPDX-License-Identifier: MIT */
/* What is read of the ELF format, 64 bits, in the byte order of this machine. */
#ifndef LOOK_ELF_H
#define LOOK_ELF_H

#include <stdint.h>

enum { ELF_CORE = 4, ELF_LOAD = 1, ELF_NOTE = 4 };
enum { NOTE_STATUS = 1, NOTE_PROCESS = 3, NOTE_FILES = 0x46494c45 };

struct elf_header {
	unsigned char identity[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, segments, sections;
	uint32_t flags;
	uint16_t bytes, segment_bytes, segment_count, section_bytes, section_count, names;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, address, physical, file_bytes, bytes, alignment;
};

struct elf_note {
	uint32_t name_bytes, bytes, type;
};

#endif

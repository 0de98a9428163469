/* SPDX-License-Identifier: MIT */
/*
 * The value of the descriptor (ashlar_descriptor.h): the compiler fills in offsets and sizes of
 * the structures.  The object is in owner.c, so each program with an owner record has it:
 * linkers keep the notes of each object that they link, also if nothing refers to them.
 */
#ifndef CORE_DESCRIPTOR_H
#define CORE_DESCRIPTOR_H

#include "ashlar_descriptor.h"
#include "backend/map.h"
#include "life.h"

#define DESCRIPTOR_NUMBER(name, value) [ASH_##name] = (uint32_t)(value),
#define DESCRIPTOR_PLACE(bytes, offset) (uint32_t)((bytes) << ASH_MEMBER_SHIFT | (offset)),
#define DESCRIPTOR_MEMBER(structure, member)                                                       \
	[ASH_##structure##_##member] = DESCRIPTOR_PLACE(                                           \
		sizeof(((struct structure *)0)->member), offsetof(struct structure, member))
#define DESCRIPTOR_ARRAY(structure, member)                                                        \
	[ASH_##structure##_##member] = DESCRIPTOR_PLACE(                                           \
		sizeof(((struct structure *)0)->member[0]), offsetof(struct structure, member))

/* The value of ash_descriptor. */
#define DESCRIPTOR                                                                                 \
	{                                                                                          \
		.name = ASH_DESCRIPTOR_NAME, .version = ASH_DESCRIPTOR_VERSION,                    \
		.fields = ASH_FIELDS, .release = HEAP_RELEASE, .heap = &heap_default,              \
		.map = &chunk_map,                                                                 \
		.field = {ASH_DESCRIPTOR_FIELDS(DESCRIPTOR_NUMBER, DESCRIPTOR_MEMBER,              \
						DESCRIPTOR_ARRAY)}                                 \
	}

/*
 * The note, which has the distance to `symbol`.  A distance needs no relocation, so the note is
 * a constant and shares a page with others.  In a function, which nothing calls and linkers drop:
 * link-time optimisation may put assembly at file level into another object than `symbol`.
 */
#define DESCRIPTOR_TEXT(x)   #x
#define DESCRIPTOR_QUOTED(x) DESCRIPTOR_TEXT(x)
#define DESCRIPTOR_NOTE(type, symbol)                                                              \
	static __attribute__((used, noinline)) void symbol##_note(void)                            \
	{                                                                                          \
		__asm__ volatile(".pushsection .note.ashlar, \"a\", @note\n"                      \
				 ".balign 8\n"                                                     \
				 ".long 12, 8, " DESCRIPTOR_QUOTED(type) "\n"                      \
				 ".asciz \"" ASH_DESCRIPTOR_NAME "\"\n"                            \
				 ".quad %c0 - .\n"                                                 \
				 ".popsection" ::"i"(&(symbol)));                                  \
	}                                                                                          \
	_Static_assert(1, "")

/*
 * The script that gdb loads for a program with Ashlar, if it finds it: tools/gdb.  The section
 * takes no memory; 1 means a Python file.
 */
#define DESCRIPTOR_GDB                                                                             \
	__asm__(".pushsection .debug_gdb_scripts, \"MS\", @progbits, 1\n"                          \
		".byte 1\n"                                                                        \
		".asciz \"ashlar-gdb.py\"\n"                                                       \
		".popsection")

_Static_assert(sizeof ASH_DESCRIPTOR_NAME == 12, "the note's name: its bytes are aligned to 8");
_Static_assert(sizeof(struct map) < (size_t)1 << ASH_MEMBER_SHIFT, "its offsets have room");

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the counted program tells the plugin: nops that no compiler emits, as scale_mark in
 * scale.c.  Behind MARK_TAKEN and MARK_GIVEN follows a load of the block's first byte, whose
 * address the plugin gets; this load is in no count.
 */
#ifndef WORDS_MARKS_H
#define WORDS_MARKS_H

#define MARK_BYTES 8
#define MARK_HEAD  {0x0f, 0x1f, 0x84, 0x00, 0x5c, 0xa2}

#define MARK_BEGIN 1 /* from now on threads take turns, and what they do is counted */
#define MARK_END   2 /* the end: the counts are written */
#define MARK_RESET 5 /* all counts are 0 again; the caches keep what they have */
#define MARK_TAKEN 3
#define MARK_GIVEN 4

#define MARK(kind) __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x5c, 0xa2, %c0, 0" : : "i"(kind) : "memory")
#define MARK_BLOCK(kind, p)                                                                                      \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x5c, 0xa2, %c0, 0\n\tmovzbl (%1), %%eax"              \
			 :                                                                                       \
			 : "i"(kind), "r"(p)                                                                     \
			 : "memory", "eax")

#endif

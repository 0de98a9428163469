/* SPDX-License-Identifier: MIT */
/*
 * Calls into a shared library that the dynamic linker has mapped but not yet relocated.  They occur because another
 * library is relocated first, and an ifunc resolver of that library allocates.
 *
 * Such a call finds the following, and therefore works:
 *
 *   code, own data     addressed relative to the program counter: no relocation
 *   thread-local words their offset from the thread pointer is not yet known: words
 *                      that are always zero stand in for them ("no owner"), which
 *                      must not be written.  On x86_64: words of the C library, to which
 *                      an offset points that tools/prereloc has stored in the file.
 *                      On other CPUs, where nothing near the thread pointer stays zero: words
 *                      of Ashlar, while a word that relocation sets is 0 (thread/seat.h)
 *   pointers in data   set here, to the values the dynamic linker will give them
 *   weak functions     absent
 */
#ifndef SYS_PRERELOC_H
#define SYS_PRERELOC_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu.h"
#include "internal.h"

#define PRERELOC_BY_WORD (IS_SO && CPU_PRERELOC_OFFSET == 0)
/* The word's own address after relocation, 0 before.  Constant during each call. */
extern const uintptr_t prereloc_word HIDDEN;

/*
 * Returns whether this is such a call; then the pointers in data are set now.  `word` is any thread-local word, or
 * its replacement.
 */
#if IS_SO
INTERNAL bool prereloc_call(const void *word);
#else
#define prereloc_call(word) false
#endif

#endif

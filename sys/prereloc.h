/* SPDX-License-Identifier: MIT */
/*
 * Calls into a shared library that the dynamic linker has mapped but not yet
 * relocated.  Cause: another library is relocated first, and one of its ifunc
 * resolvers allocates.
 *
 * What such a call finds, and why it works:
 *
 *   code, own data     addressed relative to the program counter: no relocation
 *   thread-local words their offset from the thread pointer is not yet known: words
 *                      that are always zero stand in for them ("no owner"), which
 *                      must not be written.  x86_64: words of the C library, to which
 *                      an offset points that tools/prereloc has stored in the file.
 *                      Others, where nothing near the thread pointer stays zero: words
 *                      of ours, while a word that relocation sets is 0 (thread/seat.h)
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
/* Its own address once it is relocated, until then 0.  Constant for each call. */
extern const uintptr_t prereloc_word HIDDEN;

/*
 * Only shared objects have it.  True: this is such a call; the pointers in data are set now.  word: any
 * thread-local word, or what stands in for it.
 */
BUILD_IF(ASHLAR_SO, INTERNAL, extern) bool prereloc_call(const void *word);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Calls into a shared library that the dynamic linker has mapped but not yet
 * relocated.  Cause: another library is relocated first, and one of its ifunc
 * resolvers allocates.
 *
 * What such a call finds, and why it works:
 *
 *   code, own data     addressed relative to the program counter: no relocation
 *   thread-local words their offset from the thread pointer is not yet known.
 *                      tools/prereloc has stored one in the file that points to
 *                      words of the C library that are always zero: "no owner".
 *                      They must not be written.
 *   pointers in data   set here, to the values the dynamic linker will give them
 *   weak functions     absent
 */
#ifndef SYS_PRERELOC_H
#define SYS_PRERELOC_H

#include <stdbool.h>

#include "internal.h"

#ifdef ASHLAR_SO
/* True: this is such a call; the pointers in data are set now.  word: any thread-local word. */
INTERNAL bool prereloc_call(const void *word);
#else
#define prereloc_call(word) false
#endif

#endif

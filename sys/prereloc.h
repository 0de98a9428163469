/* SPDX-License-Identifier: MIT */
/*
 * Calls that come too early: into a shared library that the dynamic linker has
 * mapped but not relocated.  An ifunc resolver of another library makes them
 * when that library is relocated first.
 *
 * What such a call finds, and why it works all the same:
 *
 *   code, own data     reached relative to the instruction: needs nobody
 *   thread-local words the offset to the thread pointer is not there yet.  What
 *                      tools/prereloc has put in its place leads to words of the
 *                      C library that are always zero: "no owner".  They must
 *                      not be written.
 *   pointers in data   set here, to what the dynamic linker will set them to
 *   weak functions     absent
 */
#ifndef SYS_EARLY_H
#define SYS_EARLY_H

#include <stdbool.h>

#include "internal.h"

#ifdef ASHLAR_SO
/* True: this is such a call.  word: any thread-local one. */
INTERNAL bool prereloc_call(const void *word);
#else
#define prereloc_call(word) false
#endif

#endif

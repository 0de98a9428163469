/* SPDX-License-Identifier: MIT */
/*
 * Free memory of the default heap reads zero: a block is cleared on release.  So memory that is handed out, purged or
 * unmapped and does not read zero was written after a release, which is reported.
 */
#ifndef CORE_ZERO_H
#define CORE_ZERO_H

#include "base/bits.h"
#include "internal.h"

/* Returns whether a slot of n bytes, a multiple of 16, reads zero. */
INTERNAL bool zero_is(const void *p, size_t n);
/* Reports misuse if this slot does not read zero.  p may be NULL. */
INTERNAL void zero_compare(const void *p, size_t have);
/* Clears a released block and the mark.  The slot reads zero behind these. */
INTERNAL void zero_set(void *p, size_t had);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The quarantine of an owner record, in hardened products: released blocks that are not free yet, by class.
 *
 *   release:  check, clear  -->  [places, filled in turn]  -->  the one whose place it gets is released
 *
 * To the bitmaps they are taken slots, with a check word of 0 (guard.h).  A block waits until at least half as
 * many others of its class were released by its thread as there are places.  The record keeps its quarantine if its
 * thread ends without detach, for the next thread that takes it.
 *
 * A handler that leaves the exchange by a jump, and a fork in it (in the child), lose one slot at most.
 */
#ifndef CORE_QUARANTINE_H
#define CORE_QUARANTINE_H

#include "internal.h"

#if IS_HARDENED
/* Puts a block of a slot into the thread's quarantine, if it has one; the block to be released for it, or NULL. */
INTERNAL void *quarantine_exchange(void *p, size_t have);

/* Releases all that is in the thread's quarantine. */
INTERNAL void quarantine_empty(void);
#endif

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Whether what a vanished thread left in its record can be believed.
 *
 * Lists, bins and hints change only on slow paths, so nearly all threads vanish
 * where theirs are right.  Everything is compared with the bitmaps and with the
 * number of slabs that name this owner; nothing is written, which in a child
 * of fork would copy the page.  What does not agree is made anew (takeover.h).
 */
#ifndef CORE_INTACT_H
#define CORE_INTACT_H

#include "internal.h"
#include "thread/owner.h"

/* v is the caller's, as a guest, and `slabs` name it as their owner. */
INTERNAL bool owner_is_intact(const struct owner *v, size_t slabs);

#endif

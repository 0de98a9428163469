/* SPDX-License-Identifier: MIT */
/*
 * Intact records: whether the lists, bins and hints that a vanished thread left agree with
 * the bitmaps.  If not, they are rebuilt (takeover.h).
 *
 * Lists, bins and hints change only on slow paths, so nearly all threads vanish while
 * theirs are right.  They are compared with the bitmaps and with the number of slabs that
 * name this owner.  Nothing is written, since a write in a child of fork copies the page.
 */
#ifndef CORE_INTACT_H
#define CORE_INTACT_H

#include "internal.h"
#include "thread/owner.h"

/* The caller holds v as a guest; `slabs` is the number of slabs that name v as their owner. */
INTERNAL bool owner_is_intact(const struct owner *v, size_t slabs);

#endif

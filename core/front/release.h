/* SPDX-License-Identifier: MIT */
/*
 * ash_release for the names of malloc; only malloc is built with these.  A misuse is reported
 * by the name free or operator delete.
 */
#ifndef CORE_RELEASE_H
#define CORE_RELEASE_H

#include <stdbool.h>
#include <stddef.h>

#include "internal.h"

INTERNAL void ash_free(void *p);
HIDDEN void ash_delete(void *p);
/*
 * A size that gives another block than p is misuse, too: of another class, or of other pages.  resized: but
 * not one for which realloc may have kept the block (front/resize.h).
 */
HIDDEN void ash_delete_sized(void *p, size_t size);
HIDDEN void ash_release_told(const char *name, void *p, size_t alignment, size_t size, bool resized);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * ash_release for the names of malloc; only malloc is built with these.  A misuse is reported
 * by the name free or operator delete.
 */
#ifndef CORE_RELEASE_H
#define CORE_RELEASE_H

#include <stddef.h>

#include "internal.h"

INTERNAL void ash_free(void *p);
HIDDEN void ash_delete(void *p);
/* A size above the block's is misuse, too. */
HIDDEN void ash_delete_sized(void *p, size_t size);

#endif

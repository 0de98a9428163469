/* SPDX-License-Identifier: MIT */
/* The array from which tests/system/array.c serves memory. */
#ifndef TESTS_SYSTEM_ARRAY_H
#define TESTS_SYSTEM_ARRAY_H

#include <stddef.h>

#define ARRAY_BYTES ((size_t)1 << 30)

size_t array_left(void); /* bytes that were not asked for yet */

/*
 * From now on so many bytes are left, aligned to 2 MiB, and pieces come one after the other, with
 * a gap where one is aligned.  For the only thread.
 */
void array_plain(size_t bytes);

#endif

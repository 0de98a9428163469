/* SPDX-License-Identifier: MIT */
/* The array from which tests/system/array.c serves memory. */
#ifndef TESTS_SYSTEM_ARRAY_H
#define TESTS_SYSTEM_ARRAY_H

#include <stddef.h>

#define ARRAY_BYTES ((size_t)1 << 30)

size_t array_left(void); /* bytes that were not asked for yet */

#endif

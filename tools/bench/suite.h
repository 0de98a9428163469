/* SPDX-License-Identifier: MIT */
/* Rows of suite.c that are in suite_sets.c; each returns how many operations it did. */
#ifndef SUITE_H
#define SUITE_H

#include <stdint.h>

uint64_t suite_numbers(void);
uint64_t suite_sets(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Ranges filled with a pattern, for tests of the system's memory. */
#ifndef TESTS_SUPPORT_PATTERN_H
#define TESTS_SUPPORT_PATTERN_H

#include "rt.h"

/* What a byte of a filled range must be: its own address decides, and a key. */
static inline unsigned char pattern(size_t i, unsigned key)
{
	return (unsigned char)((i * 0x9e3779b97f4a7c15u >> 52) + key) | 1;
}

static inline void fill(char *p, size_t bytes, unsigned key)
{
	for (size_t i = 0; i < bytes; i++)
		p[i] = (char)pattern(i, key);
}

static inline void holds(const char *p, size_t bytes, unsigned key)
{
	for (size_t i = 0; i < bytes; i++)
		CHECK_EQ((unsigned char)p[i], pattern(i, key));
}

static inline void is_zero(const char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		CHECK_EQ(p[i], 0);
}

#endif

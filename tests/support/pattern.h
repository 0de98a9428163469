/* SPDX-License-Identifier: MIT */
/* Ranges filled with a pattern, for tests of the system's memory. */
#ifndef TESTS_SUPPORT_PATTERN_H
#define TESTS_SUPPORT_PATTERN_H

#include "rt.h"

/* The value of a byte in a filled range follows from its address and a key. */
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

/* By words, then by bytes. */
static inline void is_zero(const void *range, size_t bytes)
{
	const char *p = range;
	uint64_t word;
	size_t i = 0;

	for (; i + sizeof word <= bytes; i += sizeof word) {
		memcpy(&word, p + i, sizeof word);
		if (word != 0)
			CHECK_EQ(i, SIZE_MAX);
	}
	for (; i < bytes; i++)
		CHECK_EQ(p[i], 0);
}

/* Both edges and a few bytes between, because writing all would take long. */
static inline void mark(char *p, size_t bytes, unsigned key)
{
	for (size_t i = 0; i < bytes; i += bytes / 97 + 1)
		p[i] = (char)pattern(i, key);
	if (bytes > 0)
		p[bytes - 1] = (char)pattern(bytes - 1, key);
}

/* A range that was marked with this size, of which the first `kept` bytes are there. */
static inline void marked(const char *p, size_t bytes, size_t kept, unsigned key)
{
	for (size_t i = 0; i < kept; i += bytes / 97 + 1)
		CHECK_EQ((unsigned char)p[i], pattern(i, key));
	if (kept == bytes && bytes > 0)
		CHECK_EQ((unsigned char)p[bytes - 1], pattern(bytes - 1, key));
}

static inline bool is_aligned(const void *p, size_t alignment)
{
	return ((uintptr_t)p & (alignment - 1)) == 0;
}

#define N(array) (sizeof(array) / sizeof *(array))

#endif

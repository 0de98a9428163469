/* SPDX-License-Identifier: MIT */
/* The whole heap looked over, and whole blocks. */
#ifndef TESTS_PROGRAM_AUDIT_H
#define TESTS_PROGRAM_AUDIT_H

#include "ashlar.h"
#include "backend/heap.h"
#include "rt.h"

/* Each byte is `value`. */
static inline void holds(const unsigned char *p, size_t size, unsigned char value)
{
	uint64_t word = value * 0x0101010101010101u;
	size_t i = 0;

	for (; i + 8 <= size; i += 8)
		if (*(const uint64_t *)(const void *)(p + i) != word)
			CHECK_EQ(i, SIZE_MAX);
	for (; i < size; i++)
		CHECK_EQ(p[i], value);
}

/* Checks it, and the counters, which are hints but exact when nothing races. */
static inline void audit(void)
{
	struct ash_statistics st;

	CHECK_EQ(ash_check(), 0);
	ash_stats(&st);
	CHECK_EQ(heap_default.reserved * CHUNK_SIZE, st.reserved);
	CHECK_EQ(heap_default.dirty * UNIT_SIZE, st.dirty);
}

#endif

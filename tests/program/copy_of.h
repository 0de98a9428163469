/* SPDX-License-Identifier: MIT */
/* A copy of a file, with its holes, in memory. */
#ifndef TESTS_PROGRAM_COPY_OF_H
#define TESTS_PROGRAM_COPY_OF_H

#include "rt.h"
#include "syscall.h"

static inline int copy_of(int from)
{
	enum { TO_END = 2, TO_DATA = 3, TO_HOLE = 4, PIECE = 1 << 16 };
	static char piece[PIECE];
	const int to = rt_memory_file("copy");
	long at = 0, end, n;

	CHECK_EQ(arch_ftruncate(to, arch_lseek(from, 0, TO_END)), 0);
	for (; (at = arch_lseek(from, at, TO_DATA)) >= 0; at = end) {
		end = arch_lseek(from, at, TO_HOLE);
		for (; at < end; at += n) {
			n = end - at < PIECE ? end - at : PIECE;
			CHECK_EQ(arch_pread64(from, piece, (size_t)n, at), n);
			CHECK_EQ(arch_pwrite64(to, piece, (size_t)n, at), n);
		}
	}
	return to;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Families of system calls, for programs that have something in place of each: X(call). */
#ifndef TESTS_PROGRAM_CALLS_H
#define TESTS_PROGRAM_CALLS_H

#include "support/wrap.h"

/* Those that a heap lives by. */
#define CALLS_OF_MEMORY(X) X(mmap) X(munmap) X(madvise) X(mremap)

/* Those that ask about processes, threads and memory. */
#define CALLS_THAT_ASK(X)                                                                          \
	X(mincore) X(open) X(close) X(read) X(readlink)                                            \
	X(getpid) X(getppid) X(gettid) X(tkill) X(tgkill) X(unshare)

#endif

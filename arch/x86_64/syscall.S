/* SPDX-License-Identifier: MIT */
/* The system calls of the allocator; this list is all that it asks of Linux. */
#include "stub.h"

	CALL	write, 1
	CALL	mmap, 9
	CALL	munmap, 11
	CALL	mremap, 25
	CALL	mincore, 27
	CALL	madvise, 28
	CALL	getpid, 39
	CALL	gettid, 186

	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: MIT */
/*
 * The system calls of the allocator; this list is all that it asks of Linux.  For the
 * assembler, and for the C compiler in the amalgamation: see stub.h.
 */
#include "host.h"
#ifdef ARCH_X86_64
#include "stub.h"

CALL(read, 0)
CALL(write, 1)
CALL(open, 2)
CALL(close, 3)
CALL(fstat, 5)
CALL(mmap, 9)
CALL(munmap, 11)
CALL(rt_sigaction, 13)
CALL(rt_sigprocmask, 14)
CALL(pread64, 17)
CALL(pwrite64, 18)
CALL(mremap, 25)
CALL(mincore, 27)
CALL(madvise, 28)
CALL(getpid, 39)
CALL(fcntl, 72)
CALL(ftruncate, 77)
CALL(readlink, 89)
CALL(getppid, 110)
CALL(gettid, 186)
CALL(tkill, 200)
CALL(tgkill, 234)
CALL(unshare, 272)
CALL(fallocate, 285)

#ifdef __ASSEMBLER__
	.section .note.GNU-stack, "", @progbits
#endif
#endif

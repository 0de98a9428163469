/* SPDX-License-Identifier: MIT */
/*
 * The system calls of the allocator; it makes no other calls to Linux.  For the assembler, and for the C compiler in
 * the amalgamation: see stub.h.
 */
#include "host.h"
#ifdef ARCH_X86_64
#include "stub.h"

CALL_FEW(read, 0)
CALL_FEW(write, 1)
CALL_FEW(open, 2)
CALL_FEW(close, 3)
CALL_FEW(fstat, 5)
CALL(mmap, 9)
CALL_FEW(munmap, 11)
CALL(rt_sigaction, 13)
CALL(rt_sigprocmask, 14)
CALL(pread64, 17)
CALL(pwrite64, 18)
CALL(mremap, 25)
CALL_FEW(msync, 26)
CALL_FEW(mincore, 27)
CALL_FEW(madvise, 28)
CALL_FEW(nanosleep, 35)
CALL_FEW(getpid, 39)
CALL_FEW(fcntl, 72)
CALL_FEW(ftruncate, 77)
CALL_FEW(readlink, 89)
CALL_FEW(getppid, 110)
CALL_FEW(gettid, 186)
CALL_FEW(tkill, 200)
CALL_FEW(tgkill, 234)
CALL_FEW(unshare, 272)
CALL(fallocate, 285)
#ifdef ASHLAR_AMALGAMATION /* of the hardened products */
CALL_FEW(mprotect, 10)
CALL_FEW(getrandom, 318)
#endif

#ifdef __ASSEMBLER__
	.section .note.GNU-stack, "", @progbits
#endif
#endif

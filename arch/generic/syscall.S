/* SPDX-License-Identifier: MIT */
/*
 * The system calls of the allocator; it makes no other calls to Linux.  The numbers are those of CPUs that Linux
 * supports since 2011, which have only the newest call of each kind:
 *
 *	CALL_AT	a call whose first argument is a folder: the current one
 */
CALL(read, 63)
CALL(write, 64)
CALL_AT(open, 56)
CALL(close, 57)
CALL(fstat, 80)
CALL(mmap, 222)
CALL(munmap, 215)
CALL(pread64, 67)
CALL(pwrite64, 68)
CALL(mremap, 216)
CALL(msync, 227)
CALL(mincore, 232)
CALL(madvise, 233)
CALL(getpid, 172)
CALL(ftruncate, 46)
CALL_AT(readlink, 78)
CALL(getppid, 173)
CALL(gettid, 178)
CALL(tkill, 130)
CALL(tgkill, 131)
CALL(unshare, 97)
CALL(fallocate, 47)
CALL(nanosleep, 101)
CALL(fcntl, 25)
CALL(rt_sigaction, 134)
CALL(rt_sigprocmask, 135)
#ifdef ASHLAR_AMALGAMATION /* of the hardened products */
CALL(mprotect, 226)
CALL(getrandom, 278)
#endif

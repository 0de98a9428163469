/* SPDX-License-Identifier: MIT */
/*
 * The system calls of the allocator for the amalgamation, in C, because link-time optimisation divides the
 * amalgamation into objects, and a name that assembly at file level defines would be known to only one of them.
 * Included after each call's NUMBER_ (syscall.S) and the CPU's system_few and system_many.
 */
#ifndef ARCH_CALLS_HERE_H
#define ARCH_CALLS_HERE_H

#include <stddef.h>

#define CALL_HERE static __attribute__((noinline, unused)) long
#define CALL_3(name, parameters, a, b, c)                                                          \
	CALL_HERE arch_##name parameters                                                           \
	{                                                                                          \
		return system_few(NUMBER_##name, (long)(a), (long)(b), (long)(c));                 \
	}
#define CALL_6(name, parameters, a, b, c, d, e, f)                                                 \
	CALL_HERE arch_##name parameters                                                           \
	{                                                                                          \
		return system_many(NUMBER_##name, (long)(a), (long)(b), (long)(c), (long)(d),      \
				   (long)(e), (long)(f));                                          \
	}
/* A path; on some CPUs the current folder (-100) goes before it. */
#define CALL_PATH(name, parameters, a, b, c)                                                       \
	CALL_HERE arch_##name parameters                                                           \
	{                                                                                          \
		return AT_##name ? system_many(NUMBER_##name, -100, (long)(a), (long)(b), (long)(c), 0, 0) \
				 : system_few(NUMBER_##name, (long)(a), (long)(b), (long)(c));     \
	}

CALL_6(mmap, (void *p, size_t n, long protection, long flags, long fd, long at), p, n, protection, flags, fd, at)
CALL_3(munmap, (void *p, size_t n), p, n, 0)
CALL_3(madvise, (void *p, size_t n, long advice), p, n, advice)
CALL_6(mremap, (void *p, size_t old, size_t n, long flags, void *target), p, old, n, flags, target, 0)
CALL_3(msync, (void *p, size_t n, long flags), p, n, flags)
CALL_3(mincore, (void *p, size_t n, unsigned char *residency), p, n, residency)
CALL_PATH(open, (const char *path, long flags, long mode), path, flags, mode)
CALL_PATH(readlink, (const char *path, char *out, size_t n), path, out, n)
CALL_3(close, (long fd), fd, 0, 0)
CALL_3(read, (long fd, void *bytes, size_t n), fd, bytes, n)
CALL_3(write, (long fd, const void *bytes, size_t n), fd, bytes, n)
CALL_6(pread64, (long fd, void *bytes, size_t n, long at), fd, bytes, n, at, 0, 0)
CALL_6(pwrite64, (long fd, const void *bytes, size_t n, long at), fd, bytes, n, at, 0, 0)
CALL_3(fstat, (long fd, struct arch_stat *out), fd, out, 0)
CALL_3(fcntl, (long fd, long command, long argument), fd, command, argument)
CALL_6(fallocate, (long fd, long mode, long from, long n), fd, mode, from, n, 0, 0)
CALL_3(ftruncate, (long fd, long n), fd, n, 0)
CALL_3(getpid, (void), 0, 0, 0)
CALL_3(getppid, (void), 0, 0, 0)
CALL_3(gettid, (void), 0, 0, 0)
CALL_3(tkill, (long tid, long signal), tid, signal, 0)
CALL_3(tgkill, (long pid, long tid, long signal), pid, tid, signal)
CALL_3(unshare, (long flags), flags, 0, 0)
CALL_3(mprotect, (void *p, size_t n, long protection), p, n, protection)
CALL_3(getrandom, (void *bytes, size_t n, long flags), bytes, n, flags)
CALL_3(nanosleep, (const void *time, void *left), time, left, 0)
CALL_6(rt_sigaction, (long signal, const void *to, void *old, size_t n), signal, to, old, n, 0, 0)
CALL_6(rt_sigprocmask, (long how, const void *set, void *old, size_t n), how, set, old, n, 0, 0)

#endif

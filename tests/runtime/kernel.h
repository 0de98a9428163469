/* SPDX-License-Identifier: MIT */
/*
 * The part of Linux's binary interface that the runtime uses: constants and layouts, the
 * same on all CPUs but for what is in abi.h.  They are defined here, as the kernel's headers may not be installed.
 */
#ifndef RT_KERNEL_H
#define RT_KERNEL_H

#include <stdint.h>

#include "abi.h"

/* Results of system calls: -4095..-1 is minus an error number. */
#define KERNEL_FAILED(result) ((unsigned long)(result) > -4096ul)
#define EINTR                 4
#define EAGAIN                11

enum { PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4 };
enum { MAP_SHARED = 0x01, MAP_PRIVATE = 0x02, MAP_ANONYMOUS = 0x20 };

enum { O_RDONLY = 0, O_WRONLY = 1, O_CLOEXEC = 02000000 };
enum { SEEK_END = 2 };
enum { TCGETS = 0x5401 }; /* an ioctl that succeeds only for terminals */

enum { CLOCK_MONOTONIC = 1 };
struct timespec {
	int64_t seconds, nanoseconds;
};
struct timeval {
	int64_t seconds, microseconds;
};
struct itimerval {
	struct timeval interval, value;
};
enum { ITIMER_REAL = 0 };
struct itimerspec {
	struct timespec interval, value;
};
enum { SIGEV_THREAD_ID = 4 };
struct sigevent {
	uint64_t value;
	int signal, notify, thread, rest[11];
};
_Static_assert(sizeof(struct sigevent) == 64, "as the kernel has it");

enum { AT_PAGESZ = 6 };
enum { CLONE_VM = 0x100 };

enum { FUTEX_WAIT = 0, FUTEX_WAKE = 1 };

enum { SIGILL = 4, SIGTRAP = 5, SIGABRT = 6, SIGBUS = 7, SIGFPE = 8, SIGKILL = 9, SIGSEGV = 11 };
enum { SIGPIPE = 13, SIGALRM = 14, SIGTERM = 15 };
#define SA_SIGINFO  0x00000004ul
#define SA_RESTART  0x10000000ul
/* For rt_sigaction; differs from libc's struct sigaction. */
struct kernel_sigaction {
	void (*handler)(int, void *, void *);
	uint64_t flags;
	ABI_RESTORER
	uint64_t mask;
};

enum { WNOHANG = 1, WEXITED = 4, WNOWAIT = 0x1000000, P_ALL = 0, P_PID = 1 };
enum { PR_SET_PDEATHSIG = 1, PR_SET_THP_DISABLE = 41 };
enum { RLIMIT_DATA = 2, RLIMIT_CORE = 4, RLIMIT_AS = 9 };
struct rlimit {
	uint64_t soft, hard;
};
enum { RUSAGE_SELF = 0 };
struct rusage {
	struct timeval user, system;
	int64_t max_resident, shared, data, stack, minor_faults, major_faults, rest[8];
};

#endif

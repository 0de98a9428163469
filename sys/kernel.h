/* SPDX-License-Identifier: MIT */
/* Numbers of the kernel that several files here need, because there are no system headers. */
#ifndef SYS_KERNEL_H
#define SYS_KERNEL_H

enum { ESRCH = 3, EAGAIN = 11, ENOMEM = 12 };
enum { F_GETFL = 3, F_DUPFD_CLOEXEC = 1030, O_APPEND = 02000, O_RDONLY_CLOEXEC = 02000000 };
enum {
	PROT_NO_ACCESS = 0,
	PROT_READ_WRITE = 3,
	MAP_SHARED = 0x01,
	MAP_PRIVATE = 0x02,
	MAP_ANONYMOUS = 0x20,
	MAP_NORESERVE = 0x4000,
	MAP_FIXED_NOREPLACE = 0x100000
};

#endif

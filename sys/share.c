/* SPDX-License-Identifier: MIT */
#include "share.h"

#include "syscall.h"

enum {
	PROT_READ_WRITE = 3,
	MAP_SHARED = 0x01,
	MAP_ANONYMOUS = 0x20,
	MAP_NORESERVE = 0x4000,
	MAP_FIXED_NOREPLACE = 0x100000
};
enum { EEXIST = 17 };
enum { FROM_HERE = 1, FROM_THE_END = 2, FROM_THE_START = 0 };

bool share_map(void *at, size_t bytes, int fd, bool *refused)
{
	long flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	long r = arch_mmap(at, bytes, PROT_READ_WRITE,
			   fd == SHARE_NO_FILE ? flags | MAP_ANONYMOUS : flags, fd, 0);

	*refused = r < 0 && r >= -4095 && r != -EEXIST;
	/* To old kernels and emulators NOREPLACE is a hint: compare. */
	if (r != (long)at && !(r < 0 && r >= -4095))
		(void)arch_munmap((void *)r, bytes); /* NOLINT: the kernel's word is an address */
	return r == (long)at;
}

size_t share_length(int fd)
{
	long here = arch_lseek(fd, 0, FROM_HERE);
	long end = arch_lseek(fd, 0, FROM_THE_END);

	if (here >= 0)
		(void)arch_lseek(fd, here, FROM_THE_START);
	return end < 0 ? 0 : (size_t)end;
}

bool share_set_length(int fd, size_t bytes)
{
	return arch_ftruncate(fd, (long)bytes) == 0;
}

bool share_read(int fd, void *out, size_t bytes)
{
	return arch_pread64(fd, out, bytes, 0) == (long)bytes;
}

bool share_write(int fd, const void *bytes, size_t length, size_t at)
{
	return arch_pwrite64(fd, bytes, length, (long)at) == (long)length;
}

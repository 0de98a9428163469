/* SPDX-License-Identifier: MIT */
/* The file as it is now, in memory of its own: holes stay holes. */
#ifndef TESTS_SUPPORT_FILE_COPY_H
#define TESTS_SUPPORT_FILE_COPY_H

#include "rt.h"
#include "syscall.h"

static inline int file_copy(int fd)
{
	enum { SEEK_DATA = 3, SEEK_HOLE = 4, COPIED = 4096 };
	int copy = (int)arch_memfd_create("copy", 0);
	static char page[COPIED];
	struct arch_stat st;
	long at, end;

	CHECK_EQ(arch_fstat(fd, &st), 0);
	CHECK_EQ(arch_ftruncate(copy, (long)st.length), 0);
	for (at = 0; (at = arch_lseek(fd, at, SEEK_DATA)) >= 0;)
		for (end = arch_lseek(fd, at, SEEK_HOLE); at < end; at += COPIED) {
			CHECK_EQ(arch_pread64(fd, page, COPIED, at), COPIED);
			CHECK_EQ(arch_pwrite64(copy, page, COPIED, at), COPIED);
		}
	return copy;
}

#endif

/* SPDX-License-Identifier: MIT */
#include "outside.h"

#include "kernel.h"
#include "rt.h"
#include "syscall.h"

enum { TIOCGWINSZ = 0x5413, ESRCH = 3, WAIT_ALL = 0x40000000 };
enum { PTRACE_DETACH = 17, PTRACE_SEIZE = 0x4206, PTRACE_INTERRUPT = 0x4207 };

int rt_open(const char *path)
{
	return (int)arch_open(path, O_RDONLY | O_CLOEXEC, 0);
}

int rt_open_file(const char *path)
{
	enum { O_PATH = 010000000, O_NONBLOCK = 04000, TYPES = 0170000, TYPE_REGULAR = 0100000, EINVAL = 22 };
	struct arch_stat st = {0};
	/* O_PATH asks nothing of what is there: a pipe would wait for a writer, and a device may act. */
	long fd = arch_open(path, O_PATH | O_CLOEXEC, 0);

	if (fd < 0)
		return (int)fd;
	if (arch_fstat(fd, &st) != 0)
		st.mode = 0;
	arch_close(fd);
	if ((st.mode & TYPES) != TYPE_REGULAR)
		return -EINVAL;
	return (int)arch_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
}

void rt_close(int fd)
{
	arch_close(fd);
}

int64_t rt_file_length(int fd)
{
	return arch_lseek(fd, 0, SEEK_END);
}

int64_t rt_read_at(int fd, void *out, size_t bytes, uint64_t offset)
{
	size_t used = 0;
	long n;

	while (used < bytes) {
		n = arch_pread64(fd, (char *)out + used, bytes - used, (long)(offset + used));
		if (n == -EINTR)
			continue;
		if (n < 0)
			return n;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return (int64_t)used;
}

bool rt_write(int fd, const void *bytes, size_t length)
{
	const char *p = bytes;

	while (length > 0) {
		long n = arch_write(fd, p, length);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		length -= (size_t)n;
	}
	return true;
}

bool rt_list(const char *folder, void (*see)(void *context, const char *name), void *context)
{
	/* The kernel fills in inode, offset, length, type, name. */
	enum { LENGTH_AT = 16, NAME_AT = 19 };
	_Alignas(8) char entries[8192];
	int fd = rt_open(folder);
	long n = -1;

	if (fd < 0)
		return false;
	while ((n = arch_getdents64(fd, entries, sizeof entries)) > 0) {
		for (long at = 0; at + NAME_AT < n;) {
			uint16_t length;

			memcpy(&length, entries + at + LENGTH_AT, sizeof length);
			see(context, entries + at + NAME_AT);
			if (length == 0)
				break;
			at += length;
		}
	}
	rt_close(fd);
	return n == 0;
}

bool rt_link_text(const char *path, char *out, size_t size)
{
	long n = arch_readlink(path, out, size - 1);

	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

unsigned rt_columns(int fd)
{
	uint16_t size[4] = {0, 0, 0, 0}; /* rows, columns, pixels */

	return KERNEL_FAILED(arch_ioctl(fd, TIOCGWINSZ, size)) ? 0 : size[1] == 0 ? 80 : size[1];
}

long rt_process_asked(int pid)
{
	return pid == 0 ? -ESRCH : arch_kill(pid, 0); /* kill takes 0 for the caller's group */
}

int64_t rt_peek(int pid, const struct rt_piece *pieces, size_t n)
{
	struct range {
		uint64_t at;
		size_t bytes;
	} to[RT_PIECES], from[RT_PIECES];

	for (size_t i = 0; i < n; i++) {
		to[i] = (struct range){(uintptr_t)pieces[i].to, pieces[i].bytes};
		from[i] = (struct range){pieces[i].from, pieces[i].bytes};
	}
	return arch_process_vm_readv(pid, to, n, from, n, 0);
}

bool rt_thread_stop(int tid)
{
	int status;

	if (KERNEL_FAILED(arch_ptrace(PTRACE_SEIZE, tid, NULL, NULL)))
		return false;
	if (!KERNEL_FAILED(arch_ptrace(PTRACE_INTERRUPT, tid, NULL, NULL)) &&
	    arch_wait4(tid, &status, WAIT_ALL, NULL) == tid && (status & 0xff) == 0x7f)
		return true;
	arch_ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return false;
}

void rt_thread_go(int tid)
{
	arch_ptrace(PTRACE_DETACH, tid, NULL, NULL);
}

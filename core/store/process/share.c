/* SPDX-License-Identifier: MIT */
#include "store/process/share.h"

#include "kernel.h"
#include "syscall.h"

enum { PROT_READ = 1, MS_SYNC = 4 };
enum { EINTR = 4, EIO = 5, EFAULT = 14, EEXIST = 17, EFBIG = 27, ENOSPC = 28, EDQUOT = 122 };
enum { ADVICE_POPULATE_WRITE = 23 };
enum { TYPE_MASK = 0170000, TYPE_REGULAR = 0100000 };

bool share_map(void *at, size_t bytes, int fd, bool *refused)
{
	long flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	long r = arch_mmap(at, bytes, PROT_READ_WRITE,
			   fd == SHARE_NO_FILE ? flags | MAP_ANONYMOUS : flags, fd, 0);

	*refused = r < 0 && r >= -4095 && r != -EEXIST;
	/* Old kernels and emulators treat the address as a hint, so the result is compared. */
	if (r != (long)at && !(r < 0 && r >= -4095))
		(void)arch_munmap((void *)r, bytes); /* NOLINT: the kernel's word is an address */
	return r == (long)at;
}

void *share_map_anywhere(int fd, size_t bytes, bool writable)
{
	long r = arch_mmap(NULL, bytes, writable ? PROT_READ_WRITE : PROT_READ,
			   MAP_SHARED | MAP_NORESERVE, fd, 0);

	return r < 0 && r >= -4095 ? NULL : (void *)r; /* NOLINT: the kernel's word */
}

bool share_status(int fd, struct share_file *out)
{
	struct arch_stat st;

	/* This is not lseek, because the file offset belongs to the caller and may be shared with other processes. */
	if (fd < 0 || arch_fstat(fd, &st) != 0 || (st.mode & TYPE_MASK) != TYPE_REGULAR)
		return false;
	out->length = (size_t)st.length;
	out->identity = (st.device * 0xd1342543de82ef95 ^ st.inode) * 0x9e3779b97f4a7c15;
	out->chance = (st.device * 31 + st.inode) * 0x9e3779b97f4a7c15 ^ st.changed[0] << 30 ^
		      st.changed[1];
	return true;
}

/* Returns false if there is no room.  Sets *done if the range is now backed and the file is at least that long. */
static bool share_take_some(int fd, size_t at, size_t bytes, bool *done)
{
	enum { ATTEMPTS = 1000 };
	unsigned i;
	long r = -EINTR;

	/* tmpfs stops at any signal and undoes its work. */
	for (i = 0; i < ATTEMPTS && r == -EINTR; i++)
		r = arch_fallocate(fd, 0, (long)at, (long)bytes);
	*done = r == 0;
	return r != -ENOSPC && r != -EDQUOT && r != -EFBIG && r != -EIO && r != -EINTR;
}

bool share_write(int fd, const void *bytes, size_t length, size_t at)
{
	long flags = arch_fcntl(fd, F_GETFL, 0);

	/* For such a file Linux would write at the end, whatever the offset. */
	if (flags >= 0 && (flags & O_APPEND) != 0)
		return false;
	return arch_pwrite64(fd, bytes, length, (long)at) == (long)length;
}

bool share_grow(int fd, size_t bytes)
{
	struct share_file now = {0, 0, 0};
	bool done;

	/* fallocate and pwrite never shorten; ftruncate could undo another process's growth. */
	if (!share_take_some(fd, 0, bytes, &done) ||
	    (!done && !share_write(fd, "", 1, bytes - 1)))
		return false;
	return share_status(fd, &now) && now.length >= bytes;
}

bool share_set_length(int fd, size_t bytes)
{
	return arch_ftruncate(fd, (long)bytes) == 0;
}

static bool write_zeros(int fd, size_t at, size_t end)
{
	const char zeros[4096] = {0};
	bool done = true;
	size_t n;

	for (; at < end && done; at += n) {
		n = end - at < sizeof zeros ? end - at : sizeof zeros;
		done = share_write(fd, zeros, n, at);
	}
	return done;
}

bool share_take(int fd, size_t at, size_t bytes, void *mapped)
{
	size_t piece = (size_t)64 << 20, end = at + bytes, n; /* done soon: see share_take_some */
	bool done;

	for (; at < end; at += n) {
		n = end - at < piece ? end - at : piece;
		if (!share_take_some(fd, at, n, &done))
			return false;
		if (done)
			continue;
		if (mapped == NULL)
			return write_zeros(fd, at, end);
		/* EFAULT means that a store would raise a signal.  Older kernels do not know the advice. */
		return arch_madvise((char *)mapped + at, end - at, ADVICE_POPULATE_WRITE) != -EFAULT;
	}
	return true;
}

size_t share_read(int fd, void *out, size_t bytes, size_t at)
{
	enum { ATTEMPTS = 1000 };
	size_t had = 0;
	unsigned interrupted = 0;
	long n = 1;

	/* Bounded, because a seccomp filter may return EINTR each time. */
	while (had < bytes && (n > 0 || (n == -EINTR && interrupted++ < ATTEMPTS))) {
		n = arch_pread64(fd, (char *)out + had, bytes - had, (long)(at + had));
		had += n > 0 ? (size_t)n : 0;
	}
	return had;
}

int share_again(int fd)
{
	return (int)arch_fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

void share_close(int fd)
{
	(void)arch_close(fd);
}

void share_pause(void)
{
	const long millisecond[2] = {0, 1000000};

	(void)arch_nanosleep(millisecond, NULL);
}

bool share_sync(void *at, size_t bytes)
{
	return arch_msync(at, bytes, MS_SYNC) == 0;
}

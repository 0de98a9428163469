/* SPDX-License-Identifier: MIT */
/*
 * The allocator's system calls, made through the host's libc, where ThreadSanitizer
 * sees them.  (Compiled with arch/x86_64/syscall.h included on the command line, so
 * that the types are checked.)
 *
 * ThreadSanitizer knows mmap and munmap: new memory counts as written by the thread
 * that maps it, so a record there that is published by a plain store is a race; the
 * history of the addresses is forgotten.  Other writes of the kernel are reported to
 * it here, so that a purge that overlaps a use of the memory is a race.
 *
 * The kernel's behaviour is also made less friendly: regions are placed so that they
 * share entries of the map's table, and a call that maps or purges is "interrupted" by
 * further allocator calls (stress.c), as by a signal handler.
 */
#include "stress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void __tsan_read_range(void *address, unsigned long size);
void __tsan_write_range(void *address, unsigned long size);
void __tsan_acquire(void *address);
void __tsan_release(void *address);

/*
 * What the kernel and the libc order, and ThreadSanitizer does not see.  The kernel completes what a thread wrote
 * before it says that the thread is gone, or its stack unmapped.  A thread whose stack, and so its seat
 * in the roll, was another thread's begins after that thread's end.
 */
static char ended, seats[256];
static _Thread_local char seat;

static char *my_seat(void)
{
	return &seats[((uintptr_t)&seat >> 12) % sizeof seats];
}

void stress_began(void)
{
	__tsan_acquire(my_seat());
}

void stress_ended(void)
{
	__tsan_release(my_seat());
	__tsan_release(&ended);
}

/* A result as the kernel returns it. */
static long result(long r)
{
	return r == -1 ? -(long)errno : r;
}

/*
 * Addresses 64 GiB apart share an entry.  FAR is far below the addresses that the kernel
 * chooses, and within those that ThreadSanitizer allows to programs.
 */
#define FAR       ((uintptr_t)0x7e9000000000)
#define FAR_STEP  ((uintptr_t)1 << 36)
#define HUGE_SIZE ((size_t)2 << 20)
#define MUCH      ((size_t)64 << 20)

static void *somewhere(void)
{
	static _Atomic unsigned turn;
	unsigned n = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed);

	return n % 4 != 3 ? NULL
			  : (void *)(FAR + n / 4 % 8 * FAR_STEP + n / 32 % 16 * 64 * HUGE_SIZE);
}

static _Thread_local bool viewing; /* this thread has a view of the shared heap */
static _Thread_local void *tried;  /* mapped, mostly to be unmapped at once: see pages_left */

long arch_mmap(void *address, size_t length, long protection, long flags, long fd, long offset)
{
	void *p;
	long r;

	/*
	 * A view of the shared heap: where the heap is, as ThreadSanitizer does not know that two
	 * addresses are the same memory.
	 */
	if (protection == PROT_READ && (flags & MAP_SHARED) != 0) {
		viewing = true;
		return (long)SHARED_AT;
	}
	/* Most of it nobody touches: ThreadSanitizer would note each word. */
	if (fd < 0 && length >= MUCH) {
		r = syscall(SYS_mmap, NULL, length, protection, flags, -1, 0);
		tried = (void *)r;
		return result(r);
	}
	if (address == NULL && length % HUGE_SIZE == 0)
		address = somewhere();
	p = mmap(address, length, (int)protection, (int)flags, (int)fd, offset);
	r = result((long)p);
	stress_interrupt();
	return r;
}

long arch_munmap(void *address, size_t length)
{
	long r;

	if (viewing && address == (void *)SHARED_AT) {
		viewing = false;
		return 0;
	}
	if (tried != NULL && address == tried) {
		tried = NULL;
		return result(syscall(SYS_munmap, address, length));
	}
	__tsan_write_range(address, length);
	r = result(munmap(address, length));
	stress_interrupt();
	return r;
}

/*
 * The kernel clears memory under those who read it.  Only the benches of threads that end are read meanwhile,
 * by atomic loads, for which what was there is as good as 0 (core/heaps/benches.h): so a small range
 * counts as cleared by atomic stores.  A plain access is a race all the same.
 */
static void purged(uint64_t *words, size_t length)
{
	size_t i;

	if (length > 1 << 16)
		__tsan_write_range(words, length);
	else
		for (i = 0; i < length / sizeof *words; i++)
			__atomic_store_n(&words[i], 0, __ATOMIC_RELAXED);
}

long arch_madvise(void *address, size_t length, long advice)
{
	long r;

	if (advice == MADV_DONTNEED || advice == MADV_REMOVE)
		purged(address, length);
	stress_interrupt();
	r = result(madvise(address, length, (int)advice));
	if (r == -ENOMEM)
		__tsan_acquire(&ended);
	return r;
}

long arch_mremap(void *old, size_t old_length, size_t length, long flags, void *target)
{
	if ((flags & MREMAP_FIXED) != 0) {
		__tsan_write_range(old, old_length);
		__tsan_write_range(target, length);
	}
	return result((long)mremap(old, old_length, length, (int)flags, target));
}

long arch_mincore(void *address, size_t length, unsigned char *residency)
{
	return result(mincore(address, length, residency));
}

long arch_write(long fd, const void *bytes, size_t length)
{
	return result(write((int)fd, bytes, length));
}

long arch_getpid(void)
{
	return getpid();
}

long arch_gettid(void)
{
	return gettid();
}

long arch_getppid(void)
{
	return getppid();
}

long arch_tgkill(long pid, long tid, long signal)
{
	long r = result(syscall(SYS_tgkill, pid, tid, signal));

	if (r == -ESRCH)
		__tsan_acquire(&ended);
	return r;
}

long arch_rt_sigaction(long signal, const void *action, void *old, size_t set_size)
{
	return result(syscall(SYS_rt_sigaction, signal, action, old, set_size));
}

long arch_rt_sigprocmask(long how, const void *set, void *old, size_t set_size)
{
	return result(syscall(SYS_rt_sigprocmask, how, set, old, set_size));
}

long arch_nanosleep(const void *time, void *left)
{
	return result(syscall(SYS_nanosleep, time, left));
}

long arch_unshare(long flags)
{
	return result(syscall(SYS_unshare, flags));
}

long arch_tkill(long tid, long signal)
{
	long r = result(syscall(SYS_tkill, tid, signal));

	if (r == -ESRCH)
		__tsan_acquire(&ended);
	return r;
}

/* For heaps shared by processes. */

long arch_open(const char *path, long flags, long mode)
{
	return result(open(path, (int)flags, (mode_t)mode));
}

long arch_readlink(const char *path, char *out, size_t length)
{
	return result(readlink(path, out, length));
}

long arch_close(long fd)
{
	return result(close((int)fd));
}

long arch_read(long fd, void *bytes, size_t length)
{
	long r = result(read((int)fd, bytes, length));
	const char *state = r > 0 ? memrchr(bytes, ')', (size_t)r) : NULL;

	/* Of /proc/PID/task/PID/stat: the thread has ended. */
	if (state != NULL && state + 2 < (const char *)bytes + r && (state[2] == 'Z' || state[2] == 'X'))
		__tsan_acquire(&ended);
	return r;
}

long arch_pread64(long fd, void *bytes, size_t length, long offset)
{
	return result(pread((int)fd, bytes, length, offset));
}

long arch_pwrite64(long fd, const void *bytes, size_t length, long offset)
{
	return result(pwrite((int)fd, bytes, length, offset));
}

long arch_fstat(long fd, struct arch_stat *out)
{
	return result(syscall(SYS_fstat, fd, out));
}

long arch_fcntl(long fd, long command, long argument)
{
	return result(syscall(SYS_fcntl, fd, command, argument));
}

long arch_fallocate(long fd, long mode, long offset, long length)
{
	return result(fallocate((int)fd, (int)mode, offset, length));
}

long arch_msync(void *address, size_t length, long flags)
{
	stress_interrupt();
	return result(msync(address, length, (int)flags));
}

long arch_ftruncate(long fd, long length)
{
	return result(ftruncate((int)fd, length));
}

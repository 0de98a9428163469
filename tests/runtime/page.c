/* SPDX-License-Identifier: MIT */
/*
 * A kernel with larger pages, for the programs that are linked with this in front of the
 * system calls (FAKED, tools/make/tests.mk): RT_PAGE=16384 or 65536, in the environment.  Addresses
 * that are no multiples of such a page are refused, lengths are rounded up to it, mappings
 * begin and end at one, and residency is told page by page.  What it cannot show: that the
 * first touch of a page brings all of it.
 */
#include "rt.h"
#include "syscall.h"

enum { FIXED = 0x10, FIXED_NOREPLACE = 0x100000, ANONYMOUS = 0x20, EINVAL = 22, REMAP_FIXED = 2 };

/* In place of a system call (tests/support/wrap.h, which is above the runtime). */
#define FAKED(call, parameters)                                                                    \
	long __real_arch_##call parameters;                                                        \
	long __wrap_arch_##call parameters;                                                        \
	long __wrap_arch_##call parameters

static size_t page(void)
{
	static size_t size;
	const char *text;

	if (size == 0) {
		text = rt_getenv("RT_PAGE");
		size = text != NULL ? rt_number_in(text) : 0;
		size = size > 0 ? size : 4096;
	}
	return size;
}

static bool odd(const void *address)
{
	return (uintptr_t)address % page() != 0;
}

static size_t whole(size_t length)
{
	return (length + page() - 1) & ~(page() - 1);
}

FAKED(munmap, (void *address, size_t length))
{
	return odd(address) ? -EINVAL : __real_arch_munmap(address, whole(length));
}

/* At a multiple of a page: mapped somewhere with room around, then there. */
FAKED(mmap, (void *address, size_t length, long protection, long flags, long fd, long offset))
{
	bool there = (flags & (FIXED | FIXED_NOREPLACE)) != 0;
	size_t bytes = whole(length), around = bytes + page();
	long at, from, end;

	if (page() == 4096)
		return __real_arch_mmap(address, length, protection, flags, fd, offset);
	if ((there && odd(address)) || (size_t)offset % page() != 0 || bytes < length || around < bytes)
		return there || around > bytes ? -EINVAL : -12;
	if (there)
		return __real_arch_mmap(address, bytes, protection, flags, fd, offset);
	at = __real_arch_mmap(NULL, around, protection, flags & ANONYMOUS ? flags : 0x4022, -1, 0);
	if (at < 0 && at >= -4095)
		return at;
	from = (at + (long)page() - 1) & -(long)page();
	end = from + (long)bytes;
	if (from > at)
		__real_arch_munmap((void *)at, (size_t)(from - at));
	if (end < at + (long)around)
		__real_arch_munmap((void *)end, (size_t)(at + (long)around - end));
	if ((flags & ANONYMOUS) != 0)
		return from;
	at = __real_arch_mmap((void *)from, bytes, protection, flags | FIXED, fd, offset);
	if (at != from)
		__real_arch_munmap((void *)from, bytes);
	return at;
}

FAKED(madvise, (void *address, size_t length, long advice))
{
	return odd(address) ? -EINVAL : __real_arch_madvise(address, whole(length), advice);
}

/* Moves to any address are not asked for. */
FAKED(mremap, (void *old, size_t old_length, size_t length, long flags, void *target))
{
	if (odd(old) || ((flags & REMAP_FIXED) != 0 && odd(target)))
		return -EINVAL;
	return __real_arch_mremap(old, whole(old_length), whole(length), flags, target);
}

FAKED(mincore, (void *address, size_t length, unsigned char *residency))
{
	size_t parts = page() / 4096, i, k;
	unsigned char small[16];
	long r = 0;

	if (parts == 1)
		return __real_arch_mincore(address, length, residency);
	if (odd(address))
		return -EINVAL;
	for (i = 0; i < whole(length) / page() && r == 0; i++) {
		r = __real_arch_mincore((char *)address + i * page(), page(), small);
		residency[i] = 0;
		for (k = 0; k < parts && r == 0; k++)
			residency[i] |= small[k];
	}
	return r;
}

FAKED(mprotect, (void *address, size_t length, long protection))
{
	return odd(address) ? -EINVAL : __real_arch_mprotect(address, whole(length), protection);
}

FAKED(msync, (void *address, size_t length, long flags))
{
	return odd(address) ? -EINVAL : __real_arch_msync(address, whole(length), flags);
}

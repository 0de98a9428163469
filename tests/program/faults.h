/* SPDX-License-Identifier: MIT */
/*
 * A system that misbehaves on demand.  While it is armed, each of the five calls below counts.
 */
#ifndef TESTS_PROGRAM_FAULTS_H
#define TESTS_PROGRAM_FAULTS_H

#include "rt.h"
#include "support/wrap.h"

enum {
	FAULT_EPERM = 1,
	FAULT_EAGAIN = 11,
	FAULT_EFAULT = 14,
	FAULT_ENOMEM = 12,
	FAULT_EINVAL = 22,
	FAULT_ENOSYS = 38,
	FAULT_PAGE = 4096
};

static struct faults {
	bool armed;
	size_t calls;      /* so far                                            */
	size_t fail_at;    /* the first call that fails, from 1; 0: none        */
	size_t fail_count; /* so many from there on                             */
	size_t failed;     /* so far                                            */
	/* Whole families of calls, armed or not: */
	size_t mmap_most;  /* mmap of more fails; 0: none does */
	size_t mmap_not;   /* mmap of just so many bytes fails; 0: none does     */
	size_t data_most;  /* mmap of more that may be written fails; 0: none does  */
	bool data_alone;   /* ... if it is not shared                                */
	size_t budget;     /* bytes that may be mapped in all; 0: no limit          */
	bool odd;          /* mmap comes back at addresses of odd pages         */
	bool advice_lies;  /* madvise does nothing and answers 0                */
	long advice_error; /* madvise does nothing and answers this             */
	size_t advice_least; /* ... for so many bytes or more                  */
	char *place;       /* where the next large mapping is to lie; once            */
	unsigned again;    /* so many more times                                      */
	void *last_mapped; /* by mmap                                               */
	bool always;       /* new mappings get huge pages, as where the setting is "always" */
	bool swapped;      /* mincore finds no page, as if all were in swap */
	long munmap_error;
	long mremap_error;
	bool mremap_unmaps;               /* ... and has unmapped the target before     */
	void (*in_advice)(void *address); /* called in the midst of a purge */
	void (*in_munmap)(void *address); /* called before memory is unmapped */
} faults;

static bool fault(void)
{
	if (!faults.armed)
		return false;
	faults.calls++;
	if (faults.fail_at == 0 || faults.calls < faults.fail_at ||
	    faults.calls - faults.fail_at >= faults.fail_count)
		return false;
	faults.failed++;
	return true;
}

/* What a call answers that fails: another error with each fail_at, as filters of system calls give any. */
static long fault_error(void)
{
	static const long errors[] = {FAULT_ENOMEM, FAULT_EPERM, FAULT_EAGAIN, FAULT_ENOSYS, FAULT_EINVAL};

	return -errors[faults.fail_at % (sizeof errors / sizeof *errors)];
}

WRAP(long, arch_munmap, (void *address, size_t length))
{
	if (fault())
		return fault_error();
	if (faults.in_munmap != NULL)
		faults.in_munmap(address);
	if (faults.munmap_error != 0)
		return faults.munmap_error;
	if (faults.budget != 0)
		faults.budget += length;
	return __real_arch_munmap(address, length);
}

WRAP(long, arch_madvise, (void *address, size_t length, long advice))
{
	if (fault())
		return fault_error();
	if (faults.in_advice != NULL && advice == 4)
		faults.in_advice(address);
	if (faults.advice_lies)
		return 0;
	if (faults.advice_error != 0 && length >= faults.advice_least)
		return faults.advice_error;
	return __real_arch_madvise(address, length, advice);
}

long __real_arch_mmap(void *address, size_t length, long protection, long flags, long fd, long offset);

/* An address that is 1 ... 511 pages behind a multiple of 2 MiB. */
static long odd_mmap(size_t length, long protection, long flags)
{
	const unsigned long huge = 1ul << 21;
	static unsigned long pages;
	unsigned long p, at, end;
	long r;

	pages = (pages + 37) % 511;
	r = __real_arch_mmap(NULL, length + 2 * huge, protection, flags, -1, 0);
	if (r < 0 && r > -4096)
		return r;
	p = (unsigned long)r;
	end = p + length + 2 * huge;
	at = ((p + huge - 1) & ~(huge - 1)) + (pages + 1) * FAULT_PAGE;
	__real_arch_munmap((void *)p, at - p);
	__real_arch_munmap((void *)(at + length), end - at - length);
	return (long)at;
}

static long faults_mapped(long r, size_t length)
{
	faults.last_mapped = (void *)r;
	if (faults.always && r > 0)
		(void)__real_arch_madvise((void *)r, length, 14);
	return r;
}

WRAP(long, arch_mmap, (void *address, size_t length, long protection, long flags, long fd, long offset))
{
	if (fault())
		return fault_error();
	if ((faults.mmap_most != 0 && length > faults.mmap_most) ||
	    (faults.mmap_not != 0 && length == faults.mmap_not))
		return -FAULT_ENOMEM;
	if (faults.data_most != 0 && length > faults.data_most && protection != 0 && !(faults.data_alone && (flags & 1) != 0))
		return -FAULT_ENOMEM;
	/* Neither MAP_FIXED nor MAP_FIXED_NOREPLACE: that growth lies behind its own bytes or nowhere. */
	if (faults.place != NULL && (flags & 0x100010) == 0 && length > 1ul << 20 && protection != 0) {
		address = faults.place;
		if (faults.again == 0)
			faults.place = NULL;
		else
			faults.again--;
		flags |= 0x100000; /* MAP_FIXED_NOREPLACE */
	}
	if (faults.odd && address == NULL && fd == -1)
		return odd_mmap(length, protection, flags);
	if (faults.budget == 0 || (flags & 0x10) != 0) /* MAP_FIXED: in what was counted */
		return faults_mapped(
			__real_arch_mmap(address, length, protection, flags, fd, offset), length);
	if (length > faults.budget)
		return -FAULT_ENOMEM;
	faults.budget -= length;
	return faults_mapped(__real_arch_mmap(address, length, protection, flags, fd, offset),
			     length);
}

/* What is only asked for is not what a test has a place for. */
WRAP(bool, pages_left, (size_t bytes, bool addresses_only))
{
	char *place = faults.place;
	bool left;

	faults.place = NULL;
	left = __real_pages_left(bytes, addresses_only);
	faults.place = place;
	return left;
}

WRAP(long, arch_mremap, (void *old, size_t old_length, size_t length, long flags, void *target))
{
	if (fault())
		return fault_error();
	/* Only a move has a target; a single page is a try, to see what the system can do. */
	if (faults.mremap_error != 0 && target != NULL && length > FAULT_PAGE) {
		if (faults.mremap_unmaps)
			__real_arch_munmap(target, length);
		return faults.mremap_error;
	}
	if (faults.budget != 0 && target == NULL) {
		if (length > old_length && length - old_length > faults.budget)
			return -FAULT_ENOMEM;
		faults.budget += old_length - length;
	}
	return __real_arch_mremap(old, old_length, length, flags, target);
}

WRAP(long, arch_mincore, (void *address, size_t length, unsigned char *residency))
{
	if (fault())
		return fault_error() == -FAULT_ENOMEM ? -FAULT_EAGAIN : fault_error(); /* ENOMEM says that there is a hole */
	if (faults.swapped && residency != NULL) {
		long r = __real_arch_mincore(address, length, residency);

		memset(residency, 0, length / FAULT_PAGE);
		return r;
	}
	return __real_arch_mincore(address, length, residency);
}

/*
 * Runs the body in a child with each of its calls failing in turn, and so many from there on: it ends well, and writes
 * nothing.  `counts` writes how many calls there are; of so many one is tried, as QEMU takes long for one round.
 */
static inline void faults_at_each_call(void (*body)(void *), void (*counts)(void *), size_t count, size_t step)
{
	char text[512];
	size_t calls, k;
	int status;

	CHECK_EQ(rt_run_child(counts, NULL, text, sizeof text), 0);
	calls = rt_number_in(text);
	rt_print("     %zu calls\n", calls);
	CHECK(calls > 50 && calls < 20000);
	for (k = 1; k <= calls; k += step) {
		faults.fail_at = k;
		faults.fail_count = count;
		status = rt_run_child(body, NULL, text, sizeof text);
		if (status != 0 || text[0] != '\0')
			rt_print("     call %zu of %zu fails: status %d %s\n", k, calls, status, text);
		CHECK_EQ(status, 0);
		CHECK_EQ(text[0], 0);
	}
}

#endif

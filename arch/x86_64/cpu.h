/* SPDX-License-Identifier: MIT */
/*
 * Properties of this CPU, and of Linux on it, that the layers above need.  A port
 * to another CPU is another folder in arch/ with the same file names.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include "host.h"
#ifdef ARCH_X86_64

#define CPU_PAGE_SHIFT	    12 /* smallest page                                         */
#define CPU_PAGE_SHIFT_MOST 12 /* largest page: layouts fit all sizes between (pages.h) */
#define CPU_LINE	    64 /* bytes of a cache line                                 */
#define CPU_ADDRESS_BITS    47 /* of user space                                         */
#define CPU_ADDRESSES_BEYOND false /* kernels give others only on request */
/*
 * A range in which neither the kernel nor a program places mappings by default: mmap goes down from the top of user
 * space, position independent programs and their brk heap lie above two thirds of it, other programs above 4 MiB.
 */
#define CPU_APART_FROM 0x110000000000
#define CPU_APART_TO   0x500000000000
#define CPU_NARROW_FROM 0 /* there is no second range */
#define CPU_NARROW_TO   0

/*
 * The offset from the thread pointer of 32 bytes that are always zero, for calls before relocation (sys/prereloc.h).
 * Only glibc makes such calls; the bytes are in its tcbhead_t, unused since it stopped saving vector registers there.
 * A program's own thread-local words lie below the thread pointer.
 */
#define CPU_PRERELOC_OFFSET 0x100

#define CPU_QUOTIENT(n, base) ((n) / (base))

/* Orders accesses for the compiler only, between a thread and its own signal handlers. */
#define cpu_signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

#include <stdbool.h>
#include <stdint.h>

/*
 * The index of the lowest set bit of a word that is not 0.  These bytes are tzcnt on CPUs that have this instruction,
 * otherwise bsf.  Both give one result for such words; tzcnt is much faster on several CPUs.
 */
static inline unsigned long cpu_lowest_bit(unsigned long word)
{
	unsigned long n;

	__asm__("rep bsfq %1, %0" : "=r"(n) : "r"(word) : "cc");
	return n;
}

static inline const char *cpu_thread_pointer(void)
{
	const char *p;

	__asm__("movq %%fs:0, %0" : "=r"(p));
	return p;
}

/* A value that is known to be `constant`: held in a register, or as part of an instruction. */
#define CPU_KNOWN(held, constant) (constant)

/* Returns the pointer unchanged.  On other CPUs this hides the value, so that the compiler computes it once. */
#define CPU_KEEP(p) (p)

/* Ends the process by SIGILL. */
static inline _Noreturn void cpu_stop(void)
{
	__builtin_trap();
}

/*
 * *word, which the caller has just loaded, &= mask, by one instruction.  The instruction loads the word again, but
 * off the critical store-to-load path.
 */
static inline void cpu_and(uint64_t *word, uint64_t loaded, uint64_t mask)
{
	(void)loaded;
	__asm__("andq %1, %0" : "+m"(*word) : "r"(mask) : "cc");
}

/* Sets bit n % 64 of the word by one instruction; returns its previous value. */
static inline bool cpu_set_bit(uint64_t *word, uint64_t n)
{
	bool was;

	__asm__("btsq %2, %0" : "+r"(*word), "=@ccc"(was) : "r"(n));
	return was;
}

/*
 * Returns whether n, by its low half, is above a word, or by 16 bits below a word.  The test is two instructions with
 * the branch, because otherwise the compiler moves n, a second argument, out of the register where other functions
 * expect theirs.
 */
static inline bool cpu_is_above(uint64_t n, const uint32_t *word)
{
	bool is;

	__asm__("cmpl %2, %k1" : "=@cca"(is) : "S"(n), "m"(*word));
	return is;
}

static inline bool cpu_is_below(uint64_t n, const uint16_t *word)
{
	bool is;

	__asm__("cmpw %2, %w1" : "=@ccb"(is) : "S"(n), "m"(*word));
	return is;
}

/* Sets bit n of an array of words atomically for all threads; returns its previous value. */
static inline bool cpu_set_bit_locked(uint64_t *words, uint64_t n)
{
	bool was;

	__asm__ volatile("lock btsq %2, %1" : "=@ccc"(was), "+m"(*words) : "r"(n) : "memory");
	return was;
}

#endif
#endif

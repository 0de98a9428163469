/* SPDX-License-Identifier: MIT */
/*
 * What the layers above must know of this CPU and of Linux on it.  Another
 * CPU is another arch/ folder with the same file names.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include "host.h"
#ifdef ARCH_HOST

#define CPU_PAGE_SHIFT	  12 /* smallest page                                 */
#define CPU_HUGE_SHIFT	  21 /* pages mapped by one entry one level up        */
#define CPU_LINE	  64 /* bytes that move between caches as one         */
#define CPU_ADDRESS_BITS  47 /* of user space                                 */
/*
 * Addresses where neither the kernel nor a program puts anything by itself:
 * mappings come down from the top of user space, position independent
 * programs and their heap go up from two thirds of it, others from 4 MiB.
 */
#define CPU_APART_FROM 0x110000000000
#define CPU_APART_TO   0x500000000000

/*
 * From the thread pointer: 32 bytes that are zero in every C library that
 * makes early calls (glibc's tcbhead_t, unused since it stopped saving vector
 * registers there).  Thread-local words lie below the thread pointer.
 */
#define CPU_PRERELOC_OFFSET 0x100

#include <stdbool.h>
#include <stdint.h>

/*
 * The lowest set bit of a word that is not 0.  These bytes are tzcnt where
 * the CPU has it and bsf where not; for such words the two agree, and tzcnt
 * is much the faster on several of them.
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

/*
 * *word &= mask, by one instruction.  It loads again what the caller has looked
 * at; that load is not on the way from the last store to the next.
 */
static inline void cpu_and(uint64_t *word, uint64_t mask)
{
	__asm__("andq %1, %0" : "+m"(*word) : "r"(mask) : "cc");
}

/* Sets bit n % 64 of the word; was it set before?  One instruction. */
static inline bool cpu_set_bit(uint64_t *word, uint64_t n)
{
	bool was;

	__asm__("btsq %2, %0" : "+r"(*word), "=@ccc"(was) : "r"(n));
	return was;
}

/* The same of bit n of many words, in memory, as one step for all threads. */
static inline bool cpu_set_bit_locked(uint64_t *words, uint64_t n)
{
	bool was;

	__asm__ volatile("lock btsq %2, %1" : "=@ccc"(was), "+m"(*words) : "r"(n) : "memory");
	return was;
}

#endif
#endif

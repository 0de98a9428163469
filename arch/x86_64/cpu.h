/* SPDX-License-Identifier: MIT */
/*
 * What the layers above must know of this CPU and of Linux on it.  Another
 * CPU is another arch/ folder with the same file names.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#define CPU_PAGE_SHIFT	  12 /* smallest page                                 */
#define CPU_HUGE_SHIFT	  21 /* pages mapped by one entry one level up        */
#define CPU_LINE	  64 /* bytes that move between caches as one         */
#define CPU_ADDRESS_BITS  47 /* of user space                                 */

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

#endif

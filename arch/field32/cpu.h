/* SPDX-License-Identifier: MIT */
/* Properties of a CPU that libashlar-field.a needs; x86_64/cpu.h explains each. */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include "host.h"

#define CPU_PAGE_SHIFT	    12 /* for headers only: there are no pages */
#define CPU_PAGE_SHIFT_MOST 12
#define CPU_LINE	    16 /* small CPUs have no caches that keep lines of each other */

/* The bases are 10 and 16.  Not all CPUs divide, and a call would need the compiler's library. */
#define CPU_QUOTIENT(n, base) ((base) == 10 ? (n) / 10 : (n) / 16)

#define cpu_signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

#include <stdbool.h>
#include <stdint.h>

/* The index of the lowest set bit of a word that is not 0. */
static inline unsigned long cpu_lowest_bit(unsigned long word)
{
	return (unsigned long)__builtin_ctzl(word);
}

/* Ends the program by the CPU's trap. */
static inline _Noreturn void cpu_stop(void)
{
	__builtin_trap();
}

#include "../generic/bits.h"

#endif

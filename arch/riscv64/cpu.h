/* SPDX-License-Identifier: MIT */
/*
 * Properties of this CPU and of Linux on it that the layers above need; x86_64/cpu.h explains each.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include "host.h"
#ifdef ARCH_RISCV64

#define CPU_PAGE_SHIFT	    12 /* smallest page                  */
#define CPU_PAGE_SHIFT_MOST 16 /* largest page                   */
#define CPU_LINE	    64 /* bytes of a cache line          */
#define CPU_ADDRESS_BITS    47 /* of user space; 38 as well      */
#define CPU_ADDRESSES_BEYOND true /* kernels before 6.6 give addresses of 57 bits */
/*
 * Kernels with 38 bits of user space refuse that range.  Then the narrow range is used, above programs at fixed
 * addresses and below two thirds of 38 bits, where other programs and their brk heaps lie.
 */
#define CPU_APART_FROM 0x110000000000
#define CPU_APART_TO   0x500000000000
#define CPU_NARROW_FROM 0x1000000000
#define CPU_NARROW_TO   0x2800000000
#define CPU_PRERELOC_OFFSET 0 /* no such words, see sys/prereloc.h */
#define CPU_QUOTIENT(n, base) ((n) / (base))

/* The address of a thread-local word takes several instructions, see thread/seat.h. */
#define CPU_TLS_IS_COMPUTED

#define CPU_KNOWN(held, constant) (held)
#define CPU_KEEP(p)                                                                                \
	__extension__({                                                                            \
		__typeof__(p) kept = (p);                                                          \
		__asm__("" : "+r"(kept));                                                          \
		kept;                                                                              \
	})
#define cpu_signal_fence() __asm__ volatile("" ::: "memory") /* clang 14 makes a fence of the built-in */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the index of the lowest set bit of a word that is not 0.  Without the instruction of Zbb it uses de
 * Bruijn's sequence, whose top 6 bits differ for each shift.
 */
static inline unsigned long cpu_lowest_bit(unsigned long word)
{
#ifdef __riscv_zbb
	return (unsigned long)__builtin_ctzl(word);
#else
	static const unsigned char index[64] = {
		0, 1, 48, 2, 57, 49, 28, 3, 61, 58, 50, 42, 38, 29, 17, 4,
		62, 55, 59, 36, 53, 51, 43, 22, 45, 39, 33, 30, 24, 18, 12, 5,
		63, 47, 56, 27, 60, 41, 37, 16, 54, 35, 52, 21, 44, 32, 23, 11,
		46, 26, 40, 15, 34, 20, 31, 10, 25, 14, 19, 9, 13, 8, 7, 6,
	};
	return index[((word & -word) * 0x03f79d71b4cb0a89) >> 58];
#endif
}

static inline const char *cpu_thread_pointer(void)
{
	const char *p;

	__asm__("mv %0, tp" : "=r"(p));
	return p;
}

/* ceil(size / 8) + CPU_EIGHTHS, for a size up to 1024. */
#define CPU_EIGHTHS 127
static inline size_t cpu_eighths(size_t size)
{
	return (size + 7 + 8 * CPU_EIGHTHS) >> 3;
}

/* Ends the process by SIGILL. */
static inline _Noreturn void cpu_stop(void)
{
	__asm__ volatile("unimp");
	__builtin_unreachable();
}

#include "../generic/bits.h"

#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * Properties of this CPU and of Linux on it that the layers above need; x86_64/cpu.h explains each.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include "host.h"
#ifdef ARCH_AARCH64

#define CPU_PAGE_SHIFT	    12 /* smallest page                  */
#define CPU_PAGE_SHIFT_MOST 16 /* largest page                   */
#define CPU_LINE	    64 /* bytes of a cache line          */
#define CPU_ADDRESS_BITS    48 /* of user space; 39 and 42 as well */
#define CPU_ADDRESSES_BEYOND false /* kernels give others only on request */
/*
 * Kernels with 39 or 42 bits of user space refuse that range.  Then the narrow range is used, above programs at fixed
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
#define cpu_signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The index of the lowest set bit of a word that is not 0. */
static inline unsigned long cpu_lowest_bit(unsigned long word)
{
	return (unsigned long)__builtin_ctzl(word);
}

static inline const char *cpu_thread_pointer(void)
{
	const char *p;

	__asm__("mrs %0, tpidr_el0" : "=r"(p));
	return p;
}

/*
 * Loads two words by one instruction, each like a relaxed atomic load: in the architecture the loads are single-copy
 * atomic, but compilers do not join atomic loads.  offset: a constant.
 */
#define CPU_LOADS_PAIRS
#define cpu_load_pair(at, offset, first, second)                                                   \
	__asm__("ldp %0, %1, [%2, %3]"                                                             \
		: "=r"(first), "=r"(second)                                                        \
		: "r"(at), "i"(offset), "m"(*(at)))

/*
 * Returns ceil(size / 8) + CPU_EIGHTHS, for a size up to 1024, from the difference (modulo 256) of the caller's
 * comparison of the size with 1024.
 */
#define CPU_EIGHTHS 127
static inline size_t cpu_eighths(size_t size)
{
	size_t n;

	__asm__("ubfx %0, %1, #3, #8" : "=r"(n) : "r"(size - 1025));
	return n;
}

/* Ends the process by SIGILL. */
static inline _Noreturn void cpu_stop(void)
{
	__asm__ volatile("udf #0"); /* __builtin_trap would be SIGTRAP */
	__builtin_unreachable();
}

#include "../generic/bits.h"

#endif
#endif

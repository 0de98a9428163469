/* SPDX-License-Identifier: MIT */
/* Any CPU of 32 bits that compares and swaps 32 bits.  Only libashlar-field.a is for these CPUs. */
#ifndef ARCH_FIELD32_HOST_H
#define ARCH_FIELD32_HOST_H

#if __SIZEOF_POINTER__ == 4 && defined ASHLAR_FIELD && !defined __cplusplus
#define ARCH_FIELD32
#else
#error "this folder is for libashlar-field.a, in C, on CPUs of 32 bits"
#endif
#if !defined __GCC_HAVE_SYNC_COMPARE_AND_SWAP_4
#error "Ashlar needs a CPU that compares and swaps 32 bits (Cortex-M0, RISC-V without A: will not be): -mcpu, -march"
#endif

#ifdef __arm__
/* No call passes an enumeration, so linkers need not compare the size of enumerations. */
__asm__(".eabi_attribute 26, 3");
#endif

#endif

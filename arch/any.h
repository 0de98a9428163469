/* SPDX-License-Identifier: MIT */
/* For the amalgamation: the headers of the CPU that the compiler is for. */
#ifndef ARCH_ANY
#define ARCH_ANY

#include "x86_64/host.h"
#include "aarch64/host.h"
#include "riscv64/host.h"

#if defined ARCH_X86_64 || defined ARCH_AARCH64 || defined ARCH_RISCV64
#define ARCH_HOST
#else
#error "Ashlar is for x86_64, aarch64 and riscv64 Linux, in C: this compiler is for something else"
#endif

#ifdef ARCH_X86_64
#include "x86_64/cpu.h"
#include "x86_64/syscall.h"
#include "x86_64/syscall.S"
#elif defined ARCH_AARCH64
#include "aarch64/cpu.h"
#include "aarch64/syscall.h"
#include "aarch64/syscall.S"
#elif defined ARCH_RISCV64
#include "riscv64/cpu.h"
#include "riscv64/syscall.h"
#include "riscv64/syscall.S"
#endif

#if defined ARCH_HOST && !defined ASHLAR_SYSTEM
#include "generic/calls_here.h"
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* The calls are in generic/calls.h. */
#ifndef ARCH_SYSCALL_H
#define ARCH_SYSCALL_H

#include "host.h"
#ifdef ARCH_RISCV64

#include "../generic/stat.h"
#include "../generic/calls.h"

#endif
#endif

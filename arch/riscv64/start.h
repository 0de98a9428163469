/* SPDX-License-Identifier: MIT */
/* The part of this CPU's ELF ABI that a program's start needs (sys/start). */
#ifndef ARCH_START_H
#define ARCH_START_H

#include "host.h"
#ifdef ARCH_RISCV64

/* Thread-local words lie above the thread pointer, behind START_TLS_GAP bytes. */
#define START_TLS_BELOW 0
#define START_TLS_GAP   0

/* The relocation that adds the load address. */
#define START_RELATIVE 3

#endif
#endif

/* SPDX-License-Identifier: MIT */
/* The part of this CPU's ELF ABI that a program's start needs (sys/start). */
#ifndef ARCH_START_H
#define ARCH_START_H

#include "host.h"
#ifdef ARCH_X86_64

/* Thread-local words lie below the thread pointer, which points to its own address. */
#define START_TLS_BELOW 1
#define START_TLS_GAP   0

/* The relocation that adds the load address. */
#define START_RELATIVE 8

#endif
#endif

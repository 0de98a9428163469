/* SPDX-License-Identifier: MIT */
/*
 * The end.  A library that finds its caller's memory, or its own, broken
 * does not go on: it writes one line and traps.
 */
#ifndef SYS_PANIC_H
#define SYS_PANIC_H

#include <stddef.h>

#include "internal.h"

/* Writes the bytes on fd 2 with one system call, then traps (SIGILL). */
INTERNAL _Noreturn void panic_line(const char *line, size_t length);

/* For conditions that only a bug of Ashlar can cause; text is a literal. */
#define panic(text) panic_line("ashlar: " text "\n", sizeof "ashlar: " text "\n" - 1)

#endif

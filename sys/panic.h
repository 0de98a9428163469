/* SPDX-License-Identifier: MIT */
/*
 * The end of the process after misuse by the program or a bug of Ashlar: one line
 * is written, then a trap instruction executed.
 */
#ifndef SYS_PANIC_H
#define SYS_PANIC_H

#include <stddef.h>

#include "internal.h"

/* Writes the bytes on fd 2 with one system call, then traps (SIGILL). */
INTERNAL _Noreturn void panic_line(const char *line, size_t length);

/* For conditions that only a bug of Ashlar can cause.  text: a string literal. */
#define panic(text) panic_line("ashlar: " text "\n", sizeof "ashlar: " text "\n" - 1)

#endif

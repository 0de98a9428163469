/* SPDX-License-Identifier: MIT */
/*
 * The end of the process after misuse by the program: one line is written, the program's hook is called, and then
 * SIGABRT is raised.  If there is no system to ask, or the system refuses, a trap instruction is executed (SIGILL).
 */
#ifndef SYS_PANIC_H
#define SYS_PANIC_H

#include <stdbool.h>
#include <stddef.h>

#include "internal.h"

/* Public, see ashlar.h, which sys/ does not include. */
#define PANIC_WORDS 256
extern char ash_last_words[PANIC_WORDS];
void ash_on_misuse(const char *line);

/* Writes the bytes, fewer than PANIC_WORDS, on fd 2 with one system call, and ends the process. */
INTERNAL _Noreturn void panic_line(const char *line, size_t length);

/* Notes which file fd 2 is.  Called at the first growth of the heap. */
INTERNAL void panic_note_stderr(void);

/* Returns whether a line belongs on fd 2. */
INTERNAL bool panic_may_write(void);

#endif

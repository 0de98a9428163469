/* SPDX-License-Identifier: MIT */
/*
 * The parts of the demonstration.  Each experiment and each trace runs in a
 * child of its own, so that it meets an allocator that has done nothing yet.
 */
#ifndef DEMO_H
#define DEMO_H

#include <stdbool.h>
#include <stddef.h>

/* True: all that can be verified was right. */
bool experiments(void);
bool traces(char *const *paths);

/* Runs body(argument) in a child; false when it says so, crashes or cannot start. */
bool in_child(bool (*body)(const void *argument), const void *argument);

/* On a terminal, one line that the next one overwrites; silent elsewhere. */
void progress(const char *what, size_t done, size_t total);
void progress_end(void);

#endif

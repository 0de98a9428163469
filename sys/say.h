/* SPDX-License-Identifier: MIT */
/* Text for the user of the program. */
#ifndef SYS_SAY_H
#define SYS_SAY_H

#include <stddef.h>

#include "internal.h"

/* Writes to fd 2 by one system call, which, unlike libc's write, is no cancellation point. */
INTERNAL void text_say(const char *text, size_t length);

#endif

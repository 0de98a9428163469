/* SPDX-License-Identifier: MIT */
/* Text without a libc.  Both write at `to`, without an end mark, and return where they end. */
#ifndef SYS_TEXT_H
#define SYS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "internal.h"

INTERNAL char *text_add(char *to, const char *s);
INTERNAL char *text_add_number(char *to, uint64_t n, unsigned base);

/* Writes it on fd 2 by one system call, which is no cancellation point as libc's is. */
INTERNAL void text_say(const char *text, size_t length);

#endif

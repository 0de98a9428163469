/* SPDX-License-Identifier: MIT */
/* Text without a libc.  The functions text_add... write at `to`, without a final NUL, and return the end. */
#ifndef SYS_TEXT_H
#define SYS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "internal.h"

INTERNAL char *text_add(char *to, const char *s);
INTERNAL char *text_add_number(char *to, uintptr_t n, unsigned base);

#endif

/* SPDX-License-Identifier: MIT */
/* libashlar-small.a: the block around any address, and the line about one that is misused. */
#ifndef CORE_FIND_H
#define CORE_FIND_H

#include "ashlar.h"
#include "small/large.h"
#include "small/pool.h"

/* As ash_find.  Returns the word of the piece. */
INTERNAL uint64_t find_around(const void *p, struct ash_block *out);
/* p is no block. */
INTERNAL _Noreturn void find_misuse(const char *call, const void *p);

#endif

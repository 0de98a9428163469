/* SPDX-License-Identifier: MIT */
/* libashlar-small.a: the block around any address, and the line about a misused pointer. */
#ifndef CORE_FIND_H
#define CORE_FIND_H

#include "ashlar.h"
#include "small/large.h"
#include "small/pool.h"

/* Like ash_find.  Returns the word of the piece. */
INTERNAL uint64_t find_around(const void *p, struct ash_block *out);
/* Reports that p is not a block. */
INTERNAL _Noreturn void find_misuse(const char *call, const void *p);

#endif

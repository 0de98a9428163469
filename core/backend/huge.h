/* SPDX-License-Identifier: MIT */
/* Huge pages: who gets them. */
#ifndef CORE_HUGE_H
#define CORE_HUGE_H

#include "internal.h"
#include "backend/heap.h"

enum advice {
	ADVICE_NONE,  /* as the machine's setting has it */
	ADVICE_HUGE,
	ADVICE_PLAIN, /* no huge pages, whatever the setting */
	ADVICE_UNKNOWN
};

/* In region.advice, of a span's first chunk: it may stay sparse, and so may what it grows by. */
#define ADVICE_SPARSE 0x80

enum huge_use {
	HUGE_MIXED,  /* a chunk of slabs of which parts may never be touched */
	HUGE_SLABS,  /* one that will be full              */
	HUGE_FILLED, /* a span that will be written        */
	HUGE_ZEROED  /* a zeroed span, which may stay sparse */
};

/*
 * The policy, all of it.  A huge page costs 2 MiB at its first byte, and saves
 * 511 faults and as many entries of the TLB when all of it is used.  bytes: of
 * a span.
 */
INTERNAL enum advice huge_policy(const struct heap *h, enum huge_use use, size_t bytes);

/*
 * Advice splits mappings, whose number is limited (65 530 by default): so many
 * borders between chunks of different advice may a heap have.  What would be
 * more goes without.
 */
#define HUGE_BORDERS 100

#endif

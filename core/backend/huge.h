/* SPDX-License-Identifier: MIT */
/* Huge pages: the policy. */
#ifndef CORE_HUGE_H
#define CORE_HUGE_H

#include "backend/heap.h"
#include "internal.h"

enum advice {
	ADVICE_NONE,  /* the system's setting decides */
	ADVICE_HUGE,
	ADVICE_PLAIN, /* no huge pages, whatever the setting */
	ADVICE_UNKNOWN,
	ADVICE_LOST /* no advice: whose addresses these are is unknown, see run_lose in front/span.c */
};

/* Flags in region.advice.  Of a span's first chunk: the span, also when it grows, may stay sparse. */
#define ADVICE_SPARSE 0x80
/* Of a free chunk that is not clean: behind its head it reads zero, see region_give. */
#define ADVICE_HEAD   0x40
#define ADVICE_FLAGS  (ADVICE_SPARSE | ADVICE_HEAD)

enum huge_use {
	HUGE_MIXED,  /* a chunk of slabs, parts of which may never be touched */
	HUGE_SLABS,  /* a chunk of slabs that will be full */
	HUGE_FILLED, /* a span that will be written */
	HUGE_ZEROED  /* a zeroed span, which may stay sparse */
};

/*
 * The whole policy.  A huge page costs 2 MiB at its first byte, and saves 511 page
 * faults and TLB entries if all of it is used.  bytes: the size of a span.
 */
INTERNAL enum advice huge_policy(const struct heap *h, enum huge_use use, size_t bytes);

/*
 * Advice splits mappings, whose number is limited (65 530 by default).  So this limits
 * the borders between chunks of different advice in a heap; advice that would exceed
 * it is not given.
 */
#define HUGE_BORDERS 100

#endif

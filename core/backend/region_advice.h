/* SPDX-License-Identifier: MIT */
/* The advice about huge pages: the policy, and what the kernel was given for each chunk (region.advice). */
#ifndef CORE_REGION_ADVICE_H
#define CORE_REGION_ADVICE_H

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

/*
 * Gives advice for the run, for its holder; makes a system call only if that
 * changes something and stays within HUGE_BORDERS.  ADVICE_NONE cannot be restored
 * exactly: the run merely stops asking for huge pages.
 */
INTERNAL void region_advise(struct run run, size_t n, enum advice advice);
/* Records that the advice of both runs is unknown: mremap moves it along, a copy does not. */
INTERNAL void region_moved(struct run from, struct run to, size_t n);
/* Records advice without a system call, for the holder of the run. */
INTERNAL void region_advised(struct run run, size_t n, enum advice advice);
/* The same of a run that goes, at its region's end: the next mapping has no advice. */
INTERNAL void region_unadvised(struct run run, size_t n);
/* True: a part of its addresses is lost (ADVICE_LOST), so it must not be unmapped. */
INTERNAL bool region_is_lost(const struct region *r);

#endif

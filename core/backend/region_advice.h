/* SPDX-License-Identifier: MIT */
/* The advice (huge.h) that the kernel was given for each chunk: region.advice. */
#ifndef CORE_REGION_ADVICE_H
#define CORE_REGION_ADVICE_H

#include "backend/huge.h"
#include "backend/run.h"
#include "internal.h"

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

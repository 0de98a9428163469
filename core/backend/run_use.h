/* SPDX-License-Identifier: MIT */
/*
 * Runs taken into use and given back, for spans: which of their chunks read zero, what counts as
 * retained, and what goes back to the system at once.
 */
#ifndef CORE_RUN_USE_H
#define CORE_RUN_USE_H

#include "backend/region.h"
#include "backend/region_advice.h"

/* Chunks for so many bytes. */
INTERNAL size_t run_chunks_for(size_t bytes);

/* Units that n chunks of the run are, to be counted as in use. */
INTERNAL size_t run_units(struct run run, size_t n);

/*
 * Accounts for a run taken into use: subtracts its retained chunks, and charges the
 * fresh ones to retention (retain_fresh).  So many bytes of it are made to read zero.
 */
INTERNAL void run_used(struct run run, size_t n, size_t zero);

/*
 * Purges a span's run rather than retaining it if no more may be retained, or if little was written: a large one in whose middle a page
 * is blank (none that an earlier run left as its head), and one that was allocated as a zeroed block
 * whose second page is.  Then purging costs next to nothing, and a zeroed block from this run
 * will need next to no clearing.  The head stays, where no huge page would be split: the
 * next block saves a fault, and so does the next look at the second page.
 */
INTERNAL enum left run_purge(struct run run, size_t n, enum huge_use use);

/* Gives the run back; left: the result of run_purge, or what the caller knows of its pages. */
INTERNAL void run_return(struct run run, size_t n, enum left left);

#endif

/* SPDX-License-Identifier: MIT */
/* The holder of an owner record leaves it. */
#ifndef CORE_RECORD_LEAVE_H
#define CORE_RECORD_LEAVE_H

#include "thread/owner.h"

/* Detaches the current slabs and returns the empty ones.  The caller holds the record. */
INTERNAL void record_rest(struct heap *h, struct owner *o);

/*
 * Vacates the record, then collects what was released into its slabs meanwhile.  From the
 * beginning of the call another thread may take the record.
 */
INTERNAL void record_vacate(struct heap *h, struct owner *o);

#endif

/* SPDX-License-Identifier: MIT */
/* Diagnosis of a pointer that a call could not accept. */
#ifndef CORE_DIAGNOSE_H
#define CORE_DIAGNOSE_H

#include "base/misuse.h"
#include "internal.h"

struct found;

/* Finds the fault, prints it (base/misuse.h) and ends the process. */
INTERNAL _Noreturn void diagnose(const char *call, const void *p);

/*
 * The live block of the default heap that is nearest to an address outside all blocks; none:
 * *out is unchanged.  In diagnostics/heap_walk.c; here is only a weak one that finds none, for
 * programs that do not link the walk for another reason.
 */
INTERNAL void ash_diagnose_nearest(const void *p, struct found *out);

#ifdef ASHLAR_MALLOC
/* misuse_called, except before relocation, when there are no thread-local words to write. */
INTERNAL void diagnose_called(const char *name, const void *p);
#endif

#endif

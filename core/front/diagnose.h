/* SPDX-License-Identifier: MIT */
/* Diagnosis of a pointer that a call could not accept. */
#ifndef CORE_DIAGNOSE_H
#define CORE_DIAGNOSE_H

#include "base/misuse.h"
#include "internal.h"

struct found;

/* Finds the fault, prints it (base/misuse.h) and ends the process. */
INTERNAL _Noreturn void diagnose(enum call call, const void *p);

/*
 * The live block of the default heap that is nearest to an address outside all blocks; none:
 * *out is unchanged.  In diagnostics/blocks.c; here is only a weak one that finds none, for
 * programs that do not link the walk for another reason.
 */
INTERNAL void diagnose_nearest(const void *p, struct found *out);

#ifdef ASHLAR_MALLOC
/* misuse_called, but not before relocation: its thread-local words are not to be had then. */
INTERNAL void diagnose_called(const char *name, const void *p);
#endif

#endif

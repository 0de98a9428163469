/* SPDX-License-Identifier: MIT */
/* Diagnosis of a pointer that a call could not accept. */
#ifndef CORE_DIAGNOSE_H
#define CORE_DIAGNOSE_H

#include "base/misuse.h"
#include "internal.h"

/* Finds the fault, prints it (base/misuse.h) and traps. */
INTERNAL _Noreturn void diagnose(enum call call, const void *p);

#endif

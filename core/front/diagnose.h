/* SPDX-License-Identifier: MIT */
/* What is wrong with a pointer that a call could not accept. */
#ifndef CORE_DIAGNOSE_H
#define CORE_DIAGNOSE_H

#include "base/misuse.h"

/* Finds it out, says so (misuse.h) and traps. */
_Noreturn void diagnose(enum call call, const void *p);

#endif

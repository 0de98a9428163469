/* SPDX-License-Identifier: MIT */
/*
 * One source, two programs: over Ashlar without a libc (tests/runtime), and with a libc
 * (-DHOSTED) over malloc, which LD_PRELOAD may replace.  Both speak to the system through
 * rt.h; host.c is the few functions of it that the benchmarks use, for the second.
 */
#ifndef HOST_H
#define HOST_H

#include "rt.h"

#ifdef HOSTED
#include <stdlib.h>
#define take(n)              malloc(n)
#define take_array(n, size)  calloc(n, size)
#define take_aligned(a, n)   aligned_alloc(a, n)
#define change(p, n)         realloc(p, n)
#define give(p)              free(p)
#else
#include <ashlar.h>
#define take(n)              ash_alloc(n)
#define take_array(n, size)  ash_zalloc(n, size)
#define take_aligned(a, n)   ash_aligned_alloc(a, n)
#define change(p, n)         ash_resize(p, n)
#define give(p)              ash_release(p)
#endif
#define take_zero(n)         take_array(1, n)

/* The compiler must neither drop a pair of calls nor the writes between them. */
static inline void keep(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

#endif

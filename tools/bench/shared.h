/* SPDX-License-Identifier: MIT */
/*
 * The sides of shared.c: Ashlar without a libc; Boost.Interprocess, libpmemobj, rts-alloc, and arenas of
 * mimalloc and jemalloc with the host's.  All give the same calls: take, give; heap_open (of one kind of heap),
 * heap_make, heap_again and heap_leave (a heap in a file); heap_join (in a child of fork of the maker) and
 * heap_give_back (releases the blocks of dead processes; false: there is no call for that); and a few of the system.
 */
#ifndef BENCH_SHARED_H
#define BENCH_SHARED_H

#define CAPACITY ((size_t)256 << 20)

#if defined BOOST
#include "shared_boost.h"
#elif defined PMEMOBJ
#include "shared_pmemobj.h"
#elif defined RTS
#include "shared_rts.h"
#elif defined MIMALLOC || defined JEMALLOC
#include "shared_arenas.h"
#else
#include "shared_ashlar.h"
#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * All of Ashlar as one file, the amalgamation: the list of its headers, then of its sources,
 * each bottom to top.  `make amalgamation` puts them in the places of their #includes
 * (tools/amalgamate) and so makes build/amalgamation/ashlar.c.  To compile it, with ashlar.h,
 * ashlar_heap*.h, ashlar_malloc.h, ashlar_sample.h, ashlar_descriptor.h and ashlar_system.h beside it:
 *
 *	cc -O2 -c ashlar.c			the allocator
 *	cc -O2 -DASHLAR_PTHREAD -c ashlar.c	with an ash_on_thread that detaches a C library's threads
 *	cc -O2 -DASHLAR_MALLOC -c ashlar.c	the same with the names of malloc, without ashlar_heap.h; with it, if
 *						ASHLAR_PTHREAD is there, too
 *	cc -Oz -DASHLAR_SMALL -c ashlar.c	fewest bytes, without ashlar_heap.h
 *	cc -O2 -DASHLAR_SYSTEM -c ashlar.c	with a system of the program's own: ashlar_system.h
 *	cc -O2 -DASHLAR_LIBC -c glue.c		included by a C library's malloc, without ashlar_heap.h: sys/seat_object.h
 *	cc -O2 -DASHLAR_HARDENED -c ashlar.c	with blocks guarded; also with -DASHLAR_MALLOC
 *	cc -O2 -DASHLAR_SAMPLE -c ashlar.c	with ashlar_sample.h; also with -DASHLAR_MALLOC
 *	cc -O2 -fPIC -DASHLAR_DYNAMIC_TLS -c ashlar.c	for a shared object that is loaded late; not with -DASHLAR_MALLOC
 *
 * gcc 12 with -DASHLAR_MALLOC takes 4.5 s and 95 MiB at -O2, 5.7 s and 112 MiB at -O3, and with UBSan 7.6 s and 156 MiB
 * at -O2; with -DASHLAR_HARDENED, too, up to 12 s and 213 MiB at -O3 with UBSan (Intel Xeon, family 6 model 207; an EPYC
 * takes half of the time).  It is the size of the file: -O1 with UBSan alone takes 5 s.
 *
 * Everything but the public names is static (sys/internal.h).  So a name that a source keeps
 * to itself must be the only one of the library; tests/check/amalgamation.sh looks for others.
 */
#define ASHLAR_AMALGAMATION
#include "sys/build.h"

/* Some products do not call all of these functions. */
#pragma GCC diagnostic ignored "-Wunused-function"

/* First: on an unknown CPU the compiler reports one error and nothing else. */
#include "arch/any.h"
#ifdef ARCH_HOST
#if IS_LIBC
#undef CPU_TLS_IS_COMPUTED /* a C library's structure of the thread has no table behind the seat */
#endif

/* What is called once in 64 allocations or less is built for size. */
#ifdef __clang__
#define ASHLAR_FOR_SIZE	 _Pragma("clang attribute push(__attribute__((minsize)), apply_to = function)")
#define ASHLAR_FOR_SIZE_END _Pragma("clang attribute pop")
#else
#pragma GCC diagnostic ignored "-Wmissing-attributes" /* core/malloc/malloc.c: of an alias */
#define ASHLAR_FOR_SIZE
#define ASHLAR_FOR_SIZE_END
#endif

/*
 * Headers come before the sources: a header that is first included further down would be subject to what is left out or
 * built for size there.  Only those of the fast paths are included there.
 */
#include "sys/atomic.h"
#include "sys/back.h"
#include "sys/build.h"
#include "sys/generation.h"
#include "sys/internal.h"
#include "sys/kernel.h"
#include "sys/memory.h"
#include "sys/pages.h"
#include "sys/panic.h"
#include "sys/place.h"
#include "sys/prereloc.h"
#include "sys/process.h"
#include "sys/say.h"
#include "sys/text.h"
#include "sys/vec16.h"
#include "core/base/bits.h"
#include "core/base/class.h"
#include "core/base/roll.h"
#include "core/base/variant.h"
#include "core/base/version.h"
#include "core/base/layout.h"
#include "core/base/misuse.h"
#include "core/arena/arena.h"
#include "core/arena/arena_call.h"
#if IS_SMALL
#include "core/small/place.h"
#include "core/small/pool.h"
#include "core/small/large.h"
#include "core/small/space.h"
#include "core/small/find.h"
#else
#include "core/backend/chunk.h"
#include "core/backend/heap.h"
#include "core/backend/hold.h"
#include "core/backend/map.h"
#include "core/backend/region.h"
#include "core/backend/retain.h"
#include "core/backend/shared.h"
#include "core/backend/units.h"
#include "core/slab/slab.h"
#include "core/slab/unowned.h"
#include "core/slab/look.h"
#include "core/thread/owner.h"
#include "core/thread/seat.h"
#include "core/thread/bin.h"
#include "core/thread/settle.h"
#include "core/thread/refill.h"
#include "core/thread/seating.h"
#if SAMPLED
#include "core/sample/sampler.h"
#endif
#include "core/front/diagnose.h"
#include "core/front/variant.h"
#include "core/front/slot.h"
#include "core/front/block.h"
#include "core/front/remote.h"
#include "core/front/release.h"
#include "core/front/free.h"
#include "core/front/realloc.h"
#include "core/front/alloc.h"
#include "core/front/span.h"
#include "core/diagnostics/blocks.h"
#include "core/heaps/benches.h"
#include "core/heaps/kind.h"
#include "core/heaps/building.h"
#include "core/heaps/instance.h"
#include "core/heaps/remains.h"
#include "core/heaps/seats.h"
#include "core/store/all_headers.h"
#endif

/* The memcpy family and the system calls. */
ASHLAR_FOR_SIZE
#include "arch/any.c"
ASHLAR_FOR_SIZE_END

ASHLAR_FOR_SIZE
#if IS_SYSTEM
#include "sys/system/defaults.c"
#include "sys/system/pages.c"
#include "sys/system/say.c"
#include "sys/system/threads.c"
#else
#if HAS_PTHREAD
#include "sys/back.c"
#endif
#include "sys/generation.c"
#include "sys/pages.c"
#include "sys/pages_map.c"
#include "sys/pages_move.c"
#include "sys/process.c"
#include "sys/say.c"
#endif
#include "sys/panic.c"
#include "sys/text.c"
#include "sys/prereloc.c"

#include "core/base/bits.c"
#include "core/base/class.c"
#include "core/base/misuse.c"
#include "core/base/roll.c"
#include "core/base/version.c"
#if !IS_MALLOC
#include "core/front/hook.c"
#endif
ASHLAR_FOR_SIZE_END

#if IS_SMALL || HAS_HEAPS
#include "core/arena/arena.c"
#include "core/arena/arena_summary.c"
#include "core/arena/arena_alloc.c"
#include "core/arena/arena_call.c"
#endif

ASHLAR_FOR_SIZE
#if IS_SMALL
#include "core/small/space.c"
#include "core/small/place.c"
#include "core/small/pool.c"
#include "core/small/large.c"
#include "core/small/find.c"
#include "core/small/calls.c"
#include "core/small/figures.c"
ASHLAR_FOR_SIZE_END
#else
#include "core/backend/chunk.c"
#include "core/backend/heap.c"
#include "core/backend/hold.c"
#include "core/backend/map.c"
#include "core/backend/region.c"
#include "core/backend/region_advice.c"
#include "core/backend/region_space.c"
#include "core/backend/retain.c"
#include "core/backend/retain_use.c"
#include "core/backend/shared.c"
#include "core/backend/units.c"

#include "core/slab/slab.c"
#include "core/slab/unowned.c"
#include "core/slab/look.c"

#include "core/thread/owner.c"
#include "core/thread/seat.c"
#include "core/thread/bin.c"
#include "core/thread/settle.c"
#include "core/thread/seating_takeover.c"
#include "core/thread/settle_shrink.c"
#include "core/thread/refill.c"
#include "core/thread/seating.c"
#include "core/thread/settle_purge.c"
#include "core/thread/settle_hand.c"
ASHLAR_FOR_SIZE_END

/* Fast paths, except for functions marked SLOW.  The hardened product has its own calls. */
#include "core/thread/refill_large.c"
#include "core/front/block.c"
#if IS_HARDENED
#include "sys/chance.c"
#include "core/hardened/guard.h"
#include "core/hardened/quarantine.h"
#include "core/hardened/release.h"
#include "core/hardened/zero.h"
#include "core/hardened/zero.c"
#include "core/hardened/guard.c"
#include "core/hardened/fence.c"
#include "core/hardened/quarantine.c"
#include "core/hardened/alloc.c"
#include "core/hardened/release.c"
#include "core/hardened/resize.c"
#include "core/hardened/look.c"
#else
#include "core/front/alloc.c"
#include "core/front/zalloc.c"
#include "core/front/release.c"
#include "core/front/resize.c"
#endif
#if IS_MALLOC && IS_HARDENED
#include "core/hardened/free.c"
#elif IS_MALLOC
#include "core/front/free.c"
#include "core/front/realloc.c"
#endif

ASHLAR_FOR_SIZE
#include "core/front/diagnose.c"
#include "core/front/remote.c"
#include "core/front/slot.c"
#if SAMPLED
#include "core/sample/sampler.c"
#endif
#include "core/front/span.c"
#include "core/front/trim.c"

#include "core/diagnostics/blocks_check.c"
#include "core/diagnostics/blocks.c"
#include "core/diagnostics/heap_walk.c"
#include "core/diagnostics/blocks_stats.c"
#if IS_MALLOC
#include "core/diagnostics/malloc_needs.c"
#endif
ASHLAR_FOR_SIZE_END

/* Heaps as objects. */
#if HAS_HEAPS
#include "core/heaps/instance_alloc.c"
#include "core/heaps/instance_release.c"

ASHLAR_FOR_SIZE
#include "core/arena/arena_list.c"
#include "core/heaps/benches.c"
#include "core/heaps/benches_thread.c"
#include "core/heaps/building.c"
#include "core/heaps/seats.c"
#include "core/heaps/kind.c"
#include "core/heaps/instance_private.c"
#include "core/heaps/instance_arena.c"
#include "core/heaps/instance_hooks.c"
#include "core/heaps/instance_create.c"
#include "core/heaps/remains.c"
#include "core/heaps/instance_upkeep.c"
ASHLAR_FOR_SIZE_END

#include "core/store/all_sources.h"
#endif

#if HAS_PTHREAD
#include "core/malloc/facade.h"

ASHLAR_FOR_SIZE
#include "core/malloc/thread.c"
ASHLAR_FOR_SIZE_END
#endif

/* The names of malloc; malloc_info, which writes with a C library's stdio, in a shared object alone. */
#if IS_MALLOC
#include "core/malloc/malloc.c"

ASHLAR_FOR_SIZE
#include "core/malloc/info.c"
#include "core/malloc/is_malloc.c"
#include "core/malloc/posix.c"
#include "core/malloc/settings.c"
#include "core/malloc/glibc.c"
#if IS_SO
#include "core/malloc/open.c"
#include "core/malloc/xml.c"
#endif
ASHLAR_FOR_SIZE_END
#endif
#endif

#endif

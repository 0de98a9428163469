/* SPDX-License-Identifier: MIT */
/*
 * All of Ashlar as one file, the amalgamation: the list of its parts, bottom to top.
 * `make amalgamation` puts them in the places of their #includes (tools/amalgamate) and so
 * makes build/amalgamation/ashlar.c.  To compile it, with ashlar.h, ashlar_heap.h,
 * ashlar_malloc.h and ashlar_descriptor.h beside it:
 *
 *	cc -O2 -c ashlar.c			the allocator
 *	cc -O2 -DASHLAR_MALLOC -c ashlar.c	with the names of malloc, without ashlar_heap.h
 *	cc -O2 -DASHLAR_SINGLE_THREAD -c ashlar.c	for programs of one thread
 *	cc -Oz -DASHLAR_SMALL -c ashlar.c	fewest bytes, without ashlar_heap.h
 *
 * Everything but the public names is static (sys/internal.h).  So a name that a source keeps
 * to itself must be the only one of the library; tests/check/amalgamation.sh looks for others.
 */
#define ASHLAR_AMALGAMATION

/* Not each product calls all that is here. */
#pragma GCC diagnostic ignored "-Wunused-function"

/* For another machine, one error and nothing else. */
#include "arch/any.h"
#ifdef ARCH_HOST

#if !defined ASHLAR_MALLOC && !defined ASHLAR_SMALL
#define ASHLAR_HEAPS
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
 * Headers, all of them before the sources: then none is first met where something else is
 * left out or built for size.
 */
#include "sys/atomic.h"
#include "sys/borrow.h"
#include "sys/generation.h"
#include "sys/identity.h"
#include "sys/internal.h"
#include "sys/kernel.h"
#include "sys/life.h"
#include "sys/memory.h"
#include "sys/pages.h"
#include "sys/panic.h"
#include "sys/prereloc.h"
#include "sys/process.h"
#include "sys/share.h"
#include "sys/proc_stat.h"
#include "sys/text.h"
#include "sys/vec16.h"
#include "sys/world.h"
#include "core/base/bits.h"
#include "core/base/class.h"
#include "core/base/holder_word.h"
#include "core/base/layout.h"
#include "core/base/misuse.h"
#include "core/backend/chunk.h"
#include "core/backend/heap.h"
#include "core/backend/huge.h"
#include "core/backend/map.h"
#include "core/backend/metadata.h"
#include "core/backend/region.h"
#include "core/backend/retain.h"
#include "core/backend/units.h"
#include "core/slab/slab.h"
#include "core/slab/unowned.h"
#include "core/slab/walk.h"
#include "core/slab/look.h"
#include "core/thread/slab_list.h"
#include "core/thread/owner.h"
#include "core/thread/descriptor.h"
#include "core/thread/seat.h"
#include "core/thread/holder.h"
#include "core/thread/inbox.h"
#include "core/thread/watch.h"
#include "core/thread/spare.h"
#include "core/thread/bin.h"
#include "core/thread/settle.h"
#include "core/thread/collect.h"
#include "core/thread/takeover.h"
#include "core/thread/fork.h"
#include "core/thread/large.h"
#include "core/thread/adopt.h"
#include "core/thread/shrink.h"
#include "core/thread/reap.h"
#include "core/thread/refill.h"
#include "core/thread/seating.h"
#include "core/thread/slab_purge.h"
#include "core/front/find.h"
#include "core/front/diagnose.h"
#include "core/front/block.h"
#include "core/front/release.h"
#include "core/front/remote.h"
#include "core/front/resize.h"
#include "core/front/alloc.h"
#include "core/front/slot.h"
#include "core/front/span.h"
#include "core/front/trim.h"
#include "core/diagnostics/check.h"
#include "core/diagnostics/blocks.h"
#include "core/diagnostics/stats.h"
#include "core/arena/arena.h"
#include "core/arena/arenas.h"
#include "core/arena/arena_alloc.h"
#include "core/arena/arena_check.h"
#include "core/arena/arena_misuse.h"
#include "core/arena/arena_walk.h"
#include "core/shm/store.h"
#include "core/shm/seat_page.h"
#include "core/shm/benches.h"
#include "core/shm/thread_bench.h"
#include "core/shm/lives.h"
#include "core/shm/building.h"
#include "core/shm/census.h"
#include "core/shm/block_walk.h"
#include "core/shm/seat_entries.h"
#include "core/shm/census_join.h"
#include "core/shm/seats.h"
#include "core/shm/record_leave.h"
#include "core/shm/seats_close.h"
#include "core/shm/lost_memory.h"
#include "core/shm/recover.h"
#include "core/shm/heap_setup.h"
#include "core/shm/claim.h"
#include "core/shm/image.h"
#include "core/shm/image_slabs.h"
#include "core/shm/image_chunks.h"
#include "core/shm/image_records.h"
#include "core/shm/image_lists.h"
#include "core/shm/image_check.h"
#include "core/shm/store_map.h"
#include "core/shm/store_create.h"
#include "core/shm/store_attach.h"
#include "core/heaps/instance.h"
#include "core/heaps/instance_block.h"
#include "core/heaps/instance_alloc.h"
#include "core/heaps/instance_release.h"
#include "core/heaps/instance_resize.h"
#include "core/heaps/instance_hooks.h"

/* The memcpy family and the system calls. */
ASHLAR_FOR_SIZE
#include "arch/any.c"
ASHLAR_FOR_SIZE_END

ASHLAR_FOR_SIZE
#include "sys/borrow.c"
#include "sys/generation.c"
#include "sys/identity.c"
#include "sys/pages.c"
#include "sys/pages_huge.c"
#include "sys/panic.c"
#include "sys/process.c"
#include "sys/proc_stat.c"
#include "sys/text.c"
#ifdef ASHLAR_HEAPS
#include "sys/life.c"
#include "sys/share.c"
#include "sys/world.c"
#endif
#ifdef ASHLAR_SO
#include "sys/prereloc.c"
#endif

#include "core/base/bits.c"
#include "core/base/class.c"
#include "core/base/misuse.c"

#include "core/backend/chunk.c"
#include "core/backend/heap.c"
#include "core/backend/huge.c"
#include "core/backend/map.c"
#include "core/backend/metadata.c"
#include "core/backend/region.c"
#include "core/backend/retain.c"
#include "core/backend/units.c"

#include "core/slab/slab.c"
#include "core/slab/unowned.c"
#include "core/slab/walk.c"
#include "core/slab/look.c"

#include "core/thread/slab_list.c"
#include "core/thread/owner.c"
#include "core/thread/holder.c"
#include "core/thread/inbox.c"
#include "core/thread/watch.c"
#include "core/thread/spare.c"
#include "core/thread/bin.c"
#include "core/thread/settle.c"
#include "core/thread/collect.c"
#include "core/thread/takeover.c"
#include "core/thread/fork.c"
#include "core/thread/adopt.c"
#include "core/thread/shrink.c"
#include "core/thread/reap.c"
#include "core/thread/refill.c"
#include "core/thread/seating.c"
#include "core/thread/slab_purge.c"
ASHLAR_FOR_SIZE_END

#include "core/thread/seat.c"

/* Fast paths, but for what each of these files calls SLOW. */
#include "core/thread/large.c"
#include "core/front/alloc.c"
#include "core/front/zalloc.c"
#include "core/front/block.c"
#include "core/front/release.c"
#include "core/front/resize.c"

ASHLAR_FOR_SIZE
#include "core/front/find.c"
#include "core/front/diagnose.c"
#include "core/front/remote.c"
#include "core/front/slot.c"
#include "core/front/span.c"
#include "core/front/trim.c"
#ifndef ASHLAR_MALLOC
#include "core/front/hook.c"
#endif

#include "core/diagnostics/check.c"
#include "core/diagnostics/blocks.c"
#include "core/diagnostics/stats.c"
#include "core/diagnostics/classes.c"
#include "core/diagnostics/address.c"
ASHLAR_FOR_SIZE_END

/* Heaps as objects. */
#ifdef ASHLAR_HEAPS
#include "core/arena/arena.c"
#include "core/arena/arena_alloc.c"
#include "core/heaps/instance_alloc.c"
#include "core/heaps/instance_release.c"

ASHLAR_FOR_SIZE
#include "core/arena/arena_check.c"
#include "core/arena/arena_misuse.c"
#include "core/arena/arena_walk.c"
#include "core/arena/arenas.c"
#include "core/shm/store.c"
#include "core/shm/benches.c"
#include "core/shm/thread_bench.c"
#include "core/shm/lives.c"
#include "core/shm/building.c"
#include "core/shm/census.c"
#include "core/shm/block_walk.c"
#include "core/shm/seat_entries.c"
#include "core/shm/census_join.c"
#include "core/shm/seats.c"
#include "core/shm/record_leave.c"
#include "core/shm/seats_close.c"
#include "core/shm/lost_memory.c"
#include "core/shm/recover.c"
#include "core/shm/heap_setup.c"
#include "core/shm/claim.c"
#include "core/shm/image.c"
#include "core/shm/image_slabs.c"
#include "core/shm/image_chunks.c"
#include "core/shm/image_records.c"
#include "core/shm/image_lists.c"
#include "core/shm/image_check.c"
#include "core/shm/store_map.c"
#include "core/shm/store_create.c"
#include "core/shm/store_attach.c"
#include "core/heaps/instance_block.c"
#include "core/heaps/instance_resize.c"
#include "core/heaps/instance_hooks.c"
#include "core/heaps/instance_create.c"
#include "core/heaps/instance_destroy.c"
#include "core/heaps/instance_upkeep.c"
#include "core/heaps/arena_create.c"
#include "core/heaps/owner_release.c"
ASHLAR_FOR_SIZE_END
#endif

/* The names of malloc; malloc_info may be an object of its own. */
#ifdef ASHLAR_MALLOC
#include "core/malloc/facade.h"
#include "core/malloc/malloc.c"

ASHLAR_FOR_SIZE
#include "core/malloc/info.c"
#include "core/malloc/is_malloc.c"
#include "core/malloc/posix.c"
#include "core/malloc/thread.c"
#ifndef ASHLAR_WITHOUT_XML
#include "core/malloc/xml.c"
#endif
ASHLAR_FOR_SIZE_END
#endif

#endif

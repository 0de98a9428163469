/* SPDX-License-Identifier: MIT */
/*
 * All that the store needs of the allocator.  The store stands on the allocator by this header: no other file of
 * core/store includes a header of the allocator's rooms (tools/layers checks that), but each may use sys/.  The
 * other direction is backend/shared.h and heaps/kind.h: what the allocator calls when it works in a heap of the store.
 */
#ifndef CORE_ALLOCATOR_H
#define CORE_ALLOCATOR_H

/* ---- structures, which are in the file: their sizes and places are in store_caches ---- */

#include "base/layout.h"    /* regions, chunks, slabs: the bitmaps, which are the truth                         */
#include "base/class.h"     /* size classes: of how many bytes a slot is                                        */
#include "base/bits.h"      /* bits_...: runs of bits                                                           */
#include "base/roll.h"      /* the holder word: its flags, and the bits that are the store's                    */
#include "thread/owner.h"   /* a thread's record: owner_reset, owner_publish, owner_after, owner_has; bins      */
#include "backend/heap.h"   /* the heap, chunk_heap, region_first; the bytes of a region's records; counters    */
#include "backend/hold.h"   /* hold_...: the words that name memory which a thread is taking                    */
#include "backend/shared.h" /* shared_hooks, which the store sets                                               */

/* ---- memory of a heap ---- */

#include "backend/map.h"    /* map_enter, map_leave: a store comes and goes; map_find: address -> chunk         */
#include "backend/region.h" /* region_set, region_open; region_find: as map_find, in one heap; region_give      */
#include "backend/chunk.h"  /* chunk_is, chunk_mend                                                             */
#include "backend/units.h"  /* units_give: lost units                                                           */
#include "slab/slab.h"      /* an address -> slab and index; slab_free, slab_give, slab_has_event               */
#include "slab/unowned.h"   /* unowned_free                                                                     */
#include "slab/look.h"      /* look_...: a slab of another thread, read consistently                            */

/* ---- blocks ---- */

#include "front/slot.h"         /* slot_find, slot_is_taken                                                     */
#include "front/span.h"         /* span_is, span_release                                                        */
#include "front/remote.h"       /* remote_free, and its steps                                                   */
#include "front/diagnose.h"     /* diagnose; found: what lies at an address                                     */
#include "thread/bin.h"         /* bin_slab, bin_small, slab_take_slot: a slot of the current slab              */
#include "thread/settle.h"      /* settle_freed: a release that empties a slab                                  */
#include "diagnostics/blocks.h" /* blocks_walk: all blocks of a heap                                            */
#include "arena/arena.h"        /* heaps in memory of this heap: they end with it; arena_has, arena_bytes       */

/* ---- threads ---- */

#include "thread/seat.h"     /* holder_guest                                                                    */
#include "thread/seating.h"  /* seat_fill; reap_all, takeover_...: records of the dead; visit_slab              */
#include "heaps/kind.h"      /* instance_kind: the table of shared heaps, which the store sets                  */
#include "heaps/benches.h"   /* the words of the store beside a thread's seats: seat_page.known, seat_entry.word */
#include "heaps/seats.h"     /* seats_...: the calling thread's record; record_rest, record_vacate              */
#include "heaps/building.h"  /* building_begin, building_end: around each change of more than slots             */

/* ---- ash_heap_... ---- */

#include "heaps/instance.h" /* handles; instance_...: the rest of an allocation and of a release               */

#endif

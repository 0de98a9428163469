/* SPDX-License-Identifier: MIT */
/*
 * Format 1, compared with the structures.  The asserted values must stay as long as files of format 1 are to be read,
 * which is for ever.  The golden file in tests/store/inner has each of these words.
 */
#include "store/allocator.h"
#include "store/file/store.h"

#include "store/file/open.h"
#include "store/recover/block_tags.h"
#include "store/recover/builders.h"
#include "store/recover/census.h"
#include "store/recover/intent.h"

#define LIES(structure, member, at) \
	_Static_assert(offsetof(struct structure, member) == (at), "format 1: " #structure "." #member " has moved")
#define IS(constant, value) _Static_assert((constant) == (value), "format 1: " #constant " is another one")

/* The head. */
IS(STORE_FORMAT, 1);
IS(STORE_MAGIC, 0x3230726c68736100);
IS(CLAIM_MAKING, 0x65646e616d736100);
LIES(store, magic, 0);
LIES(store, format, 8);
LIES(store, claim, 16);
LIES(store, world, 24);
LIES(store, base, 32);
LIES(store, bytes, 40);
LIES(store, records, 48);
LIES(store, census, 56);
LIES(store, caches, 64);
LIES(store, renewer, 72);
LIES(store, unlisted, 80);
LIES(store, seal, 88);
LIES(store, file, 96);
LIES(store, names, 104);
LIES(store, records_used, 112);
LIES(store, layout, 128);
LIES(layout, version, 64);
LIES(store, heap, 256);
LIES(heap, id, 24);
LIES(heap, root, 128);
LIES(heap, records, 136);
LIES(heap, own, 144);
LIES(ash_defaults, cap, 8);
LIES(ash_defaults, retain, 16);
LIES(ash_defaults, huge, 24);
LIES(ash_defaults, sparse, 28);
IS(RECORDS_DOUBTED, 1);
IS(RECORDS_ALLOCATED, 2);
IS(ASH_HUGE_DEFAULT, 0);
IS(ASH_HUGE_NEVER, 1);
IS(ASH_HUGE_ALWAYS, 2);
IS(ASH_HUGE_POPULATE, 3);
IS(SEAL_OPEN, 0);
IS(SEAL_BREAKING, 1);
IS(SEAL_CLOSING, 2);
IS(SEAL_WHOLE, 3);
IS(SEAL_STATE, 3);
IS(SEAL_NUMBER, 2);
IS(SEAL_BOOT, 32);

/* The parts. */
IS(CENSUS_AT, 0x10000);
IS(CENSUS_ENTRIES, 16384);
IS(CENSUS_OVER, (uint64_t)1 << 63);
IS(CENSUS_LAST, 16382);
IS(LIFE_BITS, 62);
IS(LIFE_ID(~(uint64_t)0), (1 << 22) - 1);
IS(RECORDS_AT, 0x30000);
IS(STORE_RECORDS, 4096);
IS(RECORD_BYTES, 8192);
IS(REGION_AT, 0x2030000);
IS(CHUNK_SHIFT, 21);
IS(UNIT_SHIFT, 15);
IS(GROUP_SHIFT, 6);
IS(SLAB_GROUPS, 32);

/* Owner records. */
IS(TRUTH_AT, 7936);
LIES(owner_truth, flight, 0);
LIES(owner_truth, census, 8);
LIES(owner_truth, intents, 16);
IS(INTENTS, 4);
IS(sizeof(struct intent), 40);
LIES(intent, state, 0);
LIES(intent, slot, 8);
LIES(intent, fresh, 16);
LIES(intent, old, 24);
LIES(intent, tag, 32);
IS(INTENT_IDLE, 0);
IS(INTENT_CLAIMED, 1);
IS(INTENT_DRAFT, 2);
IS(INTENT_ARMED, 3);
IS(INTENT_DONE, 4);
IS(INTENT_RELEASING, 5);
IS(INTENT_KINDS, 6);
IS(INTENT_KIND, 7);
IS(INTENT_OF_DRAFT, 8);
IS(INTENT_USE, 16);
IS(MARK, 1);
IS(MARK_NUMBER, 1);
IS(MARK_USE, 15);

/* Tags. */
IS(TAG_NONE, 0);
IS(TAG_PROCESS, 0x3fff);
IS(TAG_UNKNOWN, 16383);
IS(TAG_KIND, 0x4000);
IS(TAG_OWN, 0x4000);
IS(TAG_LEAVING, 0x8000);
IS(TAG_INTENT, 0xc000);
IS(KIND_SHIFT, 16);

/* The region; the bitmaps lie behind it, see metadata_init. */
LIES(region, chunks, 40);
IS(sizeof(struct region), 152);

/* Chunks. */
IS(sizeof(struct chunk), 320);
LIES(chunk, kind, 0);
LIES(chunk, base, 8);
LIES(chunk, no_reciprocal, 16);
LIES(chunk, region, 24);
LIES(chunk, units, 32);
LIES(chunk, clean, 40);
LIES(chunk, index, 48);
LIES(chunk, span_chunks, 52);
LIES(chunk, span_bytes, 56);
LIES(chunk, head, 64);
IS(CHUNK_FREE, 0);
IS(CHUNK_SLABS, 1);
IS(CHUNK_SPAN, 2);

/* Slabs.  The bytes from 64 to 112 are for their owner. */
IS(sizeof(struct slab), 384);
LIES(slab, owner, 0);
LIES(slab, base, 8);
LIES(slab, reciprocal, 16);
LIES(slab, slots, 24);
LIES(slab, remote, 32);
LIES(slab, chunk, 40);
LIES(slab, slot_size, 48);
LIES(slab, groups, 52);
LIES(slab, class, 56);
LIES(slab, unit, 57);
LIES(slab, units, 58);
LIES(slab, made, 60);
LIES(slab, ready, 64);
LIES(slab, free, 112);
IS(OWNER_PENDING, 1);
IS(OWNER_UNOWNED, 2);
IS(OWNER_CHANGING, 4);
IS(REMOTE_STRIDE, 320);
IS(STORE_REMOTE_STRIDE, 4416);
IS(KINDS_SLOT, 32);

/* Classes: class.c has the sizes. */
IS(CLASSES, 113);
IS(CLASS_STEP, 16);
IS(CLASS_LINEAR, 128);
IS(CLASS_PARTS, 8);
IS(SLOT_MAX, 1 << 20);
IS(SLOT_LARGE, 32768);

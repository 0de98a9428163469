/* SPDX-License-Identifier: MIT */
/* The paths on which the harness of deaths walks. */
#include "store/death/before.h"

#include "backend/retain.h"
#include "front/span.h"
#include "slab/unowned.h"
#include "store/calls/draft.h"
#include "store/recover/builders.h"
#include "store/recover/intent.h"
#include "store/recover/recover.h"
#include "thread/bin.h"
#include "thread/refill.h"
#include "thread/seating.h"
#include "thread/settle.h"

#define PASSES(function) ((void (*)(void))(uintptr_t)(function))

/* ---- calls ---- */

DOES(do_alloc, death_block = ash_heap_alloc(death_heap, death_size));
DOES(do_zalloc, death_block = ash_heap_zalloc(death_heap, 1, death_size));
DOES(do_aligned, death_block = ash_heap_aligned_alloc(death_heap, 4096, death_size));
DOES(do_release, ash_heap_release(death_heap, death_block));
DOES(do_shrink, death_block = ash_heap_resize(death_heap, death_block, death_size / 3));
DOES(do_grow, death_block = ash_heap_resize(death_heap, death_block, death_size * 3));
DOES(do_trim, (void)ash_heap_trim(death_heap, 0));
DOES(do_detach, ash_heap_thread_detach(death_heap));
DOES(do_sync, (void)ash_heap_sync(death_heap));
DOES(do_extend, CHECK(ash_heap_extend(death_heap, (size_t)DEATH_CHUNKS << CHUNK_SHIFT)));

/* As if the last chunks were not there yet. */
void before_extend(void)
{
	struct region *r = heap()->regions;

	before_record();
	r->chunks = DEATH_CHUNKS - 3;
	bits_clear(r->free, DEATH_CHUNKS - 3, 3);
	bits_clear(r->clean, DEATH_CHUNKS - 3, 3);
}

DOES(do_set_root, ash_heap_set_root(death_heap, death_heap));

/* ---- a sealed file ---- */

static void before_sealed(void)
{
	before_record();
	death_by_detached(before_three);
	CHECK_EQ(ash_heap_sync(death_heap), ASH_SYNC_SEALED);
}

static void before_sealed_and_full(void)
{
	before_fill_chunks();
	CHECK_EQ(ash_heap_sync(death_heap), ASH_SYNC_SEALED);
}

DOES(do_recover, (void)ash_heap_recover(death_heap));

const struct death_path death_paths[] = {
	/* First, since an instruction is looked at on the first path that meets it: here no other hold covers what is given. */
	{"detach: the chunk goes back", before_record, do_detach, PASSES(region_give), 48, 0},
	{"release: unowned, another slab goes back", before_another_is_preferred, do_release, PASSES(units_give), 9000, 0},
	{"recover: a mark, of an unowned block", ended_marked_unowned, do_recover, PASSES(unowned_free), 48, 0},
	{"allocate: fast", before_take, do_alloc, NULL, 48, 0},
	{"allocate: fast, above the small classes", before_take, do_alloc, NULL, 2000, 0},
	{"allocate: last slot of a group", before_to_last_of_group, do_alloc, NULL, 48, 0},
	{"allocate: next slab on the list", before_partial, do_alloc, PASSES(slabs_remove), 700, 0},
	{"allocate: new slab", before_exhaust, do_alloc, PASSES(slab_make), 700, 0},
	{"allocate: new slab of small slots", before_exhaust, do_alloc, PASSES(slab_make), 128, 0},
	{"allocate: new slab of one slot", before_take, do_alloc, PASSES(slab_make), 70000, 0},
	{"allocate: new chunk", before_fill_chunks, do_alloc, PASSES(region_claim), 700, 0},
	{"allocate: first call of the process", NULL, do_alloc, PASSES(owner_publish), 48, 0},
	{"allocate: first call, a record left by another", before_take_from_detached, do_alloc, NULL, 48, 0},
	{"allocate: collect remote releases", before_remote_frees, do_alloc, PASSES(slab_collect), 640, 0},
	{"allocate: adopt a slab", before_adopt, do_alloc, PASSES(adopt_slabs), 2000, 0},
	{"allocate: take over from a dead process", before_take_over, do_alloc, PASSES(takeover_end), 2000, 0},
	{"allocate: aligned", before_take, do_aligned, NULL, 4096, 0},
	{"allocate: span", before_record, do_alloc, PASSES(span_alloc), 3 << 20, 0},
	{"allocate: unowned, new slab", before_check_out, do_alloc, PASSES(unowned_slot), 96, 0},
	{"allocate: unowned", before_take_unowned, do_alloc, PASSES(unowned_slot), 96, 0},
	{"allocate: no record to be had", before_no_record, do_alloc, PASSES(unowned_slot), 96, 60},
	{"allocate: no record yet, new chunk", before_busy, do_alloc, PASSES(region_claim), 700, 0},
	{"zero-allocate: fast", before_take, do_zalloc, NULL, 100, 0},
	{"zero-allocate: unowned", before_take_unowned, do_zalloc, PASSES(unowned_slot), 100, 0},
	{"zero-allocate: span that was written", before_dirty, do_zalloc, PASSES(span_alloc), 3 << 20, 0},
	{"release: own, fast", before_take, do_release, NULL, 48, 0},
	{"release: own, slab full before", before_full, do_release, PASSES(settle_slab), 700, 0},
	{"release: own, all slabs full before", before_exhausted, do_release, PASSES(settle_freed), 700, 0},
	{"release: own, slab gets empty, kept", before_last_of_slab, do_release, PASSES(spares_add), 900, 0},
	{"release: own, an older spare goes back", before_last_of_slab_with_spares, do_release, PASSES(slab_retire), 60000, 0},
	{"release: own, a large slab gets empty, kept", before_last_of_chunk, do_release, NULL, 1 << 20, 0},
	{"release: own, beside others' releases", before_take_beside, do_release, PASSES(instance_free_own), 640, 0},
	{"release: into a live process's slab", before_take_from_live, do_release, PASSES(inbox_notify), 48, 0},
	{"release: into a live process's slab, notified before", before_take_notified, do_release, NULL, 48, 0},
	{"release: into a vacant record's slab", before_take_from_detached, do_release, PASSES(inbox_notify), 48, 0},
	{"release: a vacant record's slab gets empty", before_last_from_detached, do_release, PASSES(visit_slab), 48, 0},
	{"release: into a dead process's slab", before_take_from_ended, do_release, PASSES(inbox_notify), 48, 0},
	{"release: unowned", before_take_unowned, do_release, PASSES(unowned_free), 96, 0},
	{"release: unowned, the slab goes back", before_last_unowned, do_release, PASSES(units_give), 9000, 0},
	{"release: span", before_take_one, do_release, PASSES(span_release), 3 << 20, 0},
	{"release: own, purge", before_period_over, do_release, PASSES(pages_purge), 3 << 20, 0},
	{"resize: same class", before_take, do_shrink, NULL, 8, 0},
	{"resize: moves", before_take, do_grow, NULL, 100, 0},
	{"resize: slot to span", before_take, do_grow, PASSES(span_alloc), 900 << 10, 0},
	{"resize: a live process's block", before_take_from_live, do_grow, PASSES(inbox_notify), 100, 0},
	{"resize: span shrinks", before_take_one, do_shrink, PASSES(span_fit), 9 << 20, 0},
	{"resize: span grows in place", before_take_one, do_grow, PASSES(region_claim_at), 3 << 20, 0},
	{"resize: span moves", before_hemmed, do_grow, PASSES(span_release), 3 << 20, 0},
	{"allocate into: fast", before_slot, do_alloc_into, PASSES(intent_change), 48, 0},
	{"allocate into: span", before_slot, do_alloc_into, PASSES(span_alloc), 3 << 20, 0},
	{"allocate into: unowned", before_slot_none_unowned, do_alloc_into, PASSES(unowned_slot), 96, 0},
	{"allocate into: the last intent", before_slot_drafts, do_alloc_into, NULL, 48, 0},
	{"release from: own", before_slot_own, do_release_from, PASSES(intent_change), 48, 0},
	{"release from: own, the slab gets empty", before_slot_one, do_release_from, PASSES(settle_freed), 70000, 0},
	{"release from: a vacant record's", before_slot_detached, do_release_from, PASSES(inbox_notify), 48, 0},
	{"release from: unowned", before_slot_unowned, do_release_from, PASSES(unowned_free), 96, 0},
	{"release from: span", before_slot_one, do_release_from, PASSES(span_release), 3 << 20, 0},
	{"replace: own", before_slot_own, do_replace, PASSES(intent_change), 48, 0},
	{"replace: a live process's, unowned", before_slot_unowned, do_replace, PASSES(unowned_slot), 96, 0},
	{"replace: a span by a span", before_slot_one, do_replace_by_span, PASSES(span_release), 3 << 20, 0},
	{"replace: too late", before_slot, do_replace_late, PASSES(intent_change), 48, 0},
	{"resize: a tagged block moves", before_take_tagged, do_grow, PASSES(draft_own), 100, 0},
	{"replace: by a tagged block", before_slot, do_tagged, PASSES(draft_own), 48, 0},
	{"bind: the first name", before_record, do_bind, PASSES(draft_own), 48, 0},
	{"detach: drafts", before_slot_drafts, do_detach, PASSES(intents_settle), 48, 0},
	{"recover: a change not begun", ended_armed, do_recover, PASSES(intents_settle), 48, 0},
	{"recover: a mark", ended_marked, do_recover, PASSES(intents_settle), 48, 0},
	{"load: a dead process's mark", ended_marked, do_load, NULL, 48, 0},
	{"detach", before_remote_frees, do_detach, PASSES(shrink_owner), 640, 0},
	{"sync", before_remote_frees, do_sync, PASSES(seal_close), 640, 0},
	{"sync: others work", before_take_from_live, do_sync, PASSES(seal_close), 640, 0},
	{"sync: others have died", before_take_from_ended, do_sync, PASSES(seal_close), 640, 0},
	{"the seal breaks: allocate", before_sealed, do_alloc, PASSES(seal_break), 48, 0},
	{"the seal breaks: new chunk", before_sealed_and_full, do_alloc, PASSES(region_claim), 700, 0},
	{"the seal breaks: root", before_sealed, do_set_root, PASSES(seal_break), 48, 0},
	{"extend", before_extend, do_extend, PASSES(store_extend), 48, 0},
	{"recover: new chunks", ended_over_extend, do_recover, PASSES(region_give), 48, 0},
	{"trim", before_dirty, do_trim, PASSES(heap_trim), 3 << 20, 0},
	{"recover: a dead process's slabs", before_take_from_ended, do_recover, PASSES(takeover_end), 48, 0},
	{"recover: a slot in flight", ended_over_slot, do_recover, PASSES(recover_settle), 48, 0},
	{"recover: units", ended_over_units, do_recover, PASSES(units_give), 48, 0},
	{"recover: chunks", ended_over_chunks, do_recover, PASSES(region_give), 48, 0},
	{"recover: a span", ended_over_span, do_recover, PASSES(span_release), 48, 0},
	{"recover: a slot, unowned", ended_over_slot_unowned, do_recover, NULL, 48, 0},
	{"recover: an empty unowned slab", before_empty_unowned, do_recover, PASSES(units_give), 9000, 3},
	{"recover: a slab half unmade", ended_unmaking_unowned, do_recover, PASSES(units_give), 9000, 6},
	{"recover: a record", ended_over_record, do_recover, PASSES(owner_publish), 48, 0},
};
const size_t death_path_count = sizeof(death_paths) / sizeof(death_paths[0]);

/* SPDX-License-Identifier: MIT */
/* The paths of each call that the harness of single steps walks. */
#include "inner/steps/before.h"
#include "inner/steps/harness.h"

#include "backend/retain.h"
#include "diagnostics/blocks.h"
#include "front/remote.h"
#include "front/slot.h"
#include "front/span.h"
#include "pages.h"
#include "slab/look.h"
#include "slab/unowned.h"
#include "syscall.h"
#include "thread/bin.h"
#include "thread/refill.h"
#include "thread/seating.h"
#include "thread/settle.h"

/* ---- calls ---- */

static void do_zalloc(void)
{
	step_block = ash_zalloc(1, step_size);
	steps_held++;
}

static void do_aligned(void)
{
	step_block = ash_aligned_alloc(step_size, step_size + 1);
	steps_held++;
}

DOES(do_shrink, step_block = ash_resize(step_block, step_size / 3));
DOES(do_grow, step_block = ash_resize(step_block, step_size * 3));

/* Whether it grows or not, it is at least as large: the others may take the memory behind it. */
static void do_expand(void)
{
	size_t bytes = ash_expand(step_block, step_size * 2);

	CHECK(bytes == 0 || bytes >= step_size * 2);
	CHECK_EQ(ash_usable_size(step_block) >= step_size * 2, bytes != 0);
}

DOES(do_trim, (void)ash_trim(0));
DOES(do_trim_step, (void)ash_trim_step(SIZE_MAX));

/* The part of a trim that its owner may meet. */
static void do_purge(void)
{
	size_t room = 0;

	(void)slabs_purge_held(&heap_default, path_sleepers, &room);
}

/* A look at all blocks, and at one, while others change them at each step. */
static size_t seen_blocks, seen_kept;

static int see_block(UNUSED void *context, void *block, size_t size,
		     const struct ash_heap_owner *owner)
{
	CHECK(owner->id == 1 && ash_good_size(size) == size);
	seen_kept += steps_is_kept(block);
	return ++seen_blocks == 20; /* the others hold thousands; api/walk.c sees all */
}

static void do_walk(void)
{
	seen_blocks = seen_kept = 0;
	(void)ash_heap_walk(NULL, see_block, NULL);
	CHECK(seen_blocks >= 5 && seen_kept <= 5);
}

static void do_find(void)
{
	struct ash_block b;

	CHECK_EQ(ash_find((char *)step_block + 1, &b), ASH_TAKEN);
	CHECK(b.start == step_block && b.size >= step_size && b.offset == 1);
}

static void five_kept(void)
{
	for (unsigned i = 0; i < 4; i++)
		(void)steps_take(step_size << i);
	(void)steps_take(3 * MIB);
}

const struct path steps_paths[] = {
	{"allocate: fast", path_take, steps_alloc, ANYWHERE, 48},
	{"allocate: fast, 1024 bytes", path_take, steps_alloc, ANYWHERE, 1024},
	{"allocate: last slot of a group", path_last_of_group, steps_alloc, ANYWHERE, 48},
	{"allocate: next slab on the list", path_partial, steps_alloc, PASSES(bin_next), 700},
	{"allocate: new slab", path_exhaust_slab, steps_alloc, PASSES(slab_make), 700},
	{"allocate: new slab of 64 KiB slots", path_take, steps_alloc, PASSES(units_claim), 65536},
	{"allocate: new chunk", path_full_chunks, steps_alloc, PASSES(region_claim), 700},
	{"allocate: first call of the thread", path_detached, steps_alloc, PASSES(seat_slow), 48},
	{"allocate: collect remote releases", path_inbox, steps_alloc, PASSES(slab_collect), 320},
	{"allocate: adopt a slab", path_adoptable, steps_alloc, PASSES(adopt_slabs), 2000},
	{"allocate: aligned", path_take, do_aligned, PASSES(refill_slot), 4096},
	{"allocate: span that takes retained pages", path_retained_elsewhere, steps_alloc,
	 PASSES(pages_remap), 5 << 20},
	{"allocate: aligned span", path_take, do_aligned, PASSES(span_alloc), 4 << 20},
	{"zero-allocate: fast", path_take, do_zalloc, PASSES(slot_try), 100},
	{"zero-allocate: new slab", path_exhaust_slab, do_zalloc, PASSES(slab_make), 3000},
	{"zero-allocate: span", NULL, do_zalloc, PASSES(span_alloc), 3 << 20},
	{"zero-allocate: span that was written", path_dirty_span, do_zalloc, PASSES(pages_clear), 3 << 20},
	{"walk", five_kept, do_walk, PASSES(look_at_group), 700},
	{"find", path_take, do_find, PASSES(look_at_group), 700},
	{"find: span", path_take, do_find, PASSES(blocks_span), 3 << 20},
	{"release: own, fast", path_take, steps_release, ANYWHERE, 48},
	{"release: own, slab full before", path_full, steps_release, PASSES_AVOIDS(settle_slab, bin_take), 700},
	{"release: own, all slabs full before", path_all_full, steps_release, PASSES_AVOIDS(release_event, settle_freed), 700},
	{"release: own, current slab full before", path_current_full, steps_release, PASSES_AVOIDS(settle_freed, settle_slab), 48},
	{"release: own, slab gets empty, kept", path_last_of_slab, steps_release, PASSES(spares_add), 900},
	{"release: own, an older spare goes back", path_spares_full, steps_release, PASSES(slab_retire), 60000},
	{"release: own, purge", path_period_over, steps_release, PASSES(pages_purge), 3 << 20},
	{"release: another thread's block", path_take_from_other, steps_release, PASSES(inbox_notify), 48},
	{"release: block of a thread that ended", path_take_from_passing, steps_release,
	 PASSES(visit_slab), 48},
	{"release: shared slab's block", path_take_shared, steps_release, PASSES(unowned_free), 200},
	{"release: shared slab's last block", path_take_shared_last, steps_release, PASSES(units_give), 9000},
	{"release: span", path_take, steps_release, PASSES(span_release), 3 << 20},
	{"release: large span, sparse", path_sparse_span, steps_release, PASSES(pages_purge), 40 << 20},
	{"resize: same class", path_take, do_shrink, ANYWHERE, 8},
	{"resize: moves", path_take, do_grow, ANYWHERE, 100},
	{"resize: slot to span", path_take, do_grow, PASSES(span_alloc), 900 << 10},
	{"resize: another thread's block", path_take_from_other, do_grow, PASSES(inbox_notify), 100},
	{"resize: span shrinks", path_take, do_shrink, PASSES(span_resize), 9 << 20},
	{"resize: span grows in place", path_roomy_span, do_grow, PASSES(region_claim_at), 3 << 20},
	{"resize: span moves", path_hemmed_span, do_grow, PASSES(pages_move), 3 << 20},
	{"expand: large slab", path_take, do_expand, PASSES(units_extend), 60000},
	{"expand: large slab to span", path_alone, do_expand, PASSES(span_of_chunk), 600 << 10},
	{"detach", path_inbox, ash_thread_detach, PASSES(shrink_in_place), 320},
	{"trim", path_dirty_span, do_trim, PASSES(heap_trim), 3 << 20},
	{"trim: in steps", path_inbox, do_trim_step, PASSES(shrink_slab), 3000},
	{"trim: shared slabs", path_empty_shared, do_trim, PASSES(unowned_shrink), 3 << 20},
	{"trim: a slab of a thread that sleeps", path_sleeping_owner, do_purge,
	 FUNCTION(pages_purge), NULL, true, 20000},
	{"release: the last of slabs of a thread that sleeps", path_emptied_by_others, steps_release,
	 FUNCTION(pages_purge), NULL, true, 20000},
	{"release: the last of large slabs of a thread that sleeps", path_emptied_by_others, steps_release,
	 FUNCTION(pages_purge), NULL, true, 100000},
};
const size_t steps_path_count = sizeof(steps_paths) / sizeof(steps_paths[0]);

/* SPDX-License-Identifier: MIT */
/* The paths of each call that the harness of single steps walks. */
#include "inner/steps.h"

#include "backend/region.h"
#include "ashlar_heap.h"
#include "backend/retain.h"
#include "diagnostics/blocks.h"
#include "front/span.h"
#include "pages.h"
#include "slab/look.h"
#include "slab/unowned.h"
#include "syscall.h"
#include "thread/adopt.h"
#include "thread/collect.h"
#include "thread/inbox.h"
#include "thread/owner.h"
#include "thread/refill.h"
#include "thread/seat.h"
#include "thread/seating.h"
#include "thread/settle.h"
#include "thread/shrink.h"
#include "thread/slab_purge.h"

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

static void do_shrink(void)
{
	step_block = ash_resize(step_block, step_size / 3);
}

static void do_grow(void)
{
	step_block = ash_resize(step_block, step_size * 3);
}

static void do_trim(void)
{
	(void)ash_trim(0);
}

/* The part of a trim that its owner may meet. */
static struct slab *sleepers;

static void do_purge(void)
{
	size_t room = 0;

	(void)slabs_purge_held(&heap_default, sleepers, &room);
}

/* A look at all blocks, and at one, while others change them at each step. */
static size_t seen_blocks, seen_kept;

static int see_block(__attribute__((unused)) void *context, void *block, size_t size,
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

/* ---- what goes before ---- */

static void *reserve[4096];
static unsigned reserved;

/* What the call is about to release or resize: no child may count on it. */
static void take(void)
{
	step_block = ash_alloc(step_size);
	steps_held++;
}

static void five_kept(void)
{
	for (unsigned i = 0; i < 4; i++)
		(void)steps_take(step_size << i);
	(void)steps_take(3 * MIB);
}

static void take_from_other(void)
{
	steps_other(take);
}

static void take_from_passing(void)
{
	steps_passing_thread(take);
}

/* From the unowned slabs, as a handler that interrupts a call would. */
static void take_shared(void)
{
	(void)seat_take();
	take();
	seat_open();
}

/* The same, the only block of its slab, of the class's two. */
static void take_shared_last(void)
{
	void *first;

	(void)seat_take();
	first = ash_alloc(step_size);
	for (unsigned i = 1; i < class_slots(class_of(step_size), 1); i++)
		steps_take(step_size);
	take();
	ash_release(first); /* that one's slab is preferred now */
	seat_open();
}

static void dirty_span(void)
{
	char *p = ash_alloc(step_size);

	memset(p, 1, step_size);
	ash_release(p);
}

/* Empty slabs of some classes, each its class's preferred one. */
static void empty_shared(void)
{
	(void)seat_take();
	for (size_t size = 100; size < 10000; size *= 3)
		ash_release(ash_alloc(size));
	seat_open();
	dirty_span();
}

/* The current slab of the class is used up to its last slot, or nearly. */
static void exhaust(unsigned but)
{
	struct slab *s;
	unsigned left;

	for (steps_take(step_size);; steps_take(step_size)) {
		struct bin *b = &seat.self->bins[class_of(step_size)];

		s = b->slab;
		left = 0;
		for (unsigned g = 0; s != NULL && g < s->groups; g++)
			left += bits_count(s->free[g]);
		if (left <= but)
			break;
	}
}

static void exhaust_slab(void)
{
	exhaust(0);
}

static void exhaust_group(void)
{
	steps_take(step_size);
	while (*bin_word(seat.self, &seat.self->bins[class_of(step_size)]) != 0)
		steps_take(step_size);
}

/* Two slabs; the first has free slots again, the second is full. */
static void shelve(void)
{
	void *first = ash_alloc(step_size);

	exhaust(0);
	steps_take(step_size);
	exhaust(0);
	ash_release(first);
}

/* The slab is full; the other thread has released some of it. */
static void release_some(void)
{
	for (unsigned i = 0; i < reserved; i++, steps_held--)
		ash_release(reserve[i]);
}

static void inbox(void)
{
	for (; reserved < 5; reserved++, steps_held++)
		reserve[reserved] = ash_alloc(step_size);
	exhaust(0);
	steps_other(release_some);
}

/* A slab of a thread that is gone has free slots, and no chunk has units. */
static void leave_slab(void)
{
	for (unsigned i = 0; i < 3; i++)
		steps_take(step_size);
}

static void adoptable(void)
{
	exhaust(0);
	steps_passing_thread(leave_slab);
	steps_fill_units();
}

static void full_chunks(void)
{
	exhaust(0);
	steps_fill_units();
}

/* The slab has one block, and as many spares as can be are there already. */
static void spares_full(void)
{
	unsigned i;

	for (i = 1; i <= SPARES + 1; i++)
		ash_release(ash_alloc(1500 + 900 * i));
	take();
}

/* One slab of the class besides the current one, with one block in it. */
static void last_of_slab(void)
{
	struct bin *b = &seat.self->bins[class_of(step_size)];
	unsigned first = 0, i;
	struct slab *s;

	reserve[first++] = ash_alloc(step_size);
	steps_held++;
	for (s = b->slab; b->slab == s;) {
		reserve[first++] = ash_alloc(step_size);
		steps_held++;
	}
	for (i = 1; i + 1 < first; i++, steps_held--)
		ash_release(reserve[i]);
	step_block = reserve[0];
}

/* Nothing is free behind the span. */
static void hemmed_span(void)
{
	struct run behind;
	struct chunk *c;

	take();
	memset(step_block, 1, step_size);
	c = map_find(step_block);
	behind = (struct run){c->region, c->index + c->span_chunks};
	(void)region_claim_at(behind, 1);
}

static void roomy_span(void)
{
	/* A region of its own, free throughout: the blocks go there. */
	ash_release(ash_alloc(64 * CHUNK_SIZE));
	for (unsigned i = 0; i < 12; i++)
		(void)ash_alloc(step_size), steps_held++;
	take();
}

/* More is kept than for good, all of it long enough: the next slow operation gives it back. */
static void period_over(void)
{
	void *p = ash_alloc(ash_defaults.retain * 2);

	memset(p, 1, ash_defaults.retain * 2);
	take();
	ash_release(p);
	store_relaxed(&heap_default.period_low, load_relaxed(&heap_default.dirty));
	store_relaxed(&heap_default.clock, RETAIN_PERIOD - 1);
}

/* The other thread, which sleeps, has slabs of which all is released, and one in use. */
static void other_fills(void)
{
	unsigned i;

	for (i = 0; i < 14; i++)
		reserve[i] = memset(ash_alloc(step_size), 1, step_size);
	reserved = 14;
}

static void sleeping_owner(void)
{
	unsigned i;

	steps_other(other_fills);
	CHECK(slab_find(map_find(reserve[1]), reserve[1], &sleepers));
	for (i = 0; i < reserved; i++)
		ash_release(reserve[i]);
	reserved = 0;
	steps_burst = 14;
}

/* Nothing of it was written: it is not kept. */
static void sparse_span(void)
{
	take();
	*(char *)step_block = 1;
}

static void detached(void)
{
	ash_thread_detach();
}

const struct path steps_paths[] = {
	{"allocate: fast", take, steps_alloc, ANYWHERE, 48},
	{"allocate: fast, 1024 bytes", take, steps_alloc, ANYWHERE, 1024},
	{"allocate: next group", exhaust_group, steps_alloc, PASSES(refill_slot), 48},
	{"allocate: next slab on the list", shelve, steps_alloc, PASSES(slabs_remove), 700},
	{"allocate: new slab", exhaust_slab, steps_alloc, PASSES(slab_make), 700},
	{"allocate: new slab of 64 KiB slots", exhaust_slab, steps_alloc, PASSES(slab_make), 65536},
	{"allocate: new chunk", full_chunks, steps_alloc, PASSES(region_claim), 700},
	{"allocate: first call of the thread", detached, steps_alloc, PASSES(seat_slow), 48},
	{"allocate: collect remote releases", inbox, steps_alloc, PASSES(slab_collect), 320},
	{"allocate: adopt a slab", adoptable, steps_alloc, PASSES(adopt_slabs), 2000},
	{"allocate: aligned", take, do_aligned, PASSES(refill_slot), 4096},
	{"allocate: aligned span", take, do_aligned, PASSES(span_alloc), 4 << 20},
	{"zero-allocate: fast", take, do_zalloc, PASSES(refill_slot), 100},
	{"zero-allocate: new slab", exhaust_slab, do_zalloc, PASSES(slab_make), 3000},
	{"zero-allocate: span", NULL, do_zalloc, PASSES(span_alloc), 3 << 20},
	{"zero-allocate: span that was written", dirty_span, do_zalloc, PASSES(pages_zero), 3 << 20},
	{"walk", five_kept, do_walk, PASSES(look_at_group), 700},
	{"find", take, do_find, PASSES(look_at_group), 700},
	{"find: span", take, do_find, PASSES(blocks_span), 3 << 20},
	{"release: own, fast", take, steps_release, ANYWHERE, 48},
	{"release: own, slab full before", shelve, steps_release, ANYWHERE, 700},
	{"release: own, slab gets empty, kept", last_of_slab, steps_release, PASSES(spares_add), 900},
	{"release: own, an older spare goes back", spares_full, steps_release, PASSES(slab_unmake), 60000},
	{"release: own, purge", period_over, steps_release, PASSES(pages_purge), 3 << 20},
	{"release: another thread's block", take_from_other, steps_release, PASSES(inbox_notify), 48},
	{"release: block of a thread that ended", take_from_passing, steps_release,
	 PASSES(collect_vacant), 48},
	{"release: shared slab's block", take_shared, steps_release, PASSES(unowned_free), 200},
	{"release: shared slab's last block", take_shared_last, steps_release, PASSES(units_give), 9000},
	{"release: span", take, steps_release, PASSES(span_release), 3 << 20},
	{"release: large span, sparse", sparse_span, steps_release, PASSES(pages_purge), 40 << 20},
	{"resize: same class", take, do_shrink, ANYWHERE, 8},
	{"resize: moves", take, do_grow, ANYWHERE, 100},
	{"resize: slot to span", take, do_grow, PASSES(span_alloc), 900 << 10},
	{"resize: another thread's block", take_from_other, do_grow, PASSES(inbox_notify), 100},
	{"resize: span shrinks", take, do_shrink, PASSES(span_resize), 9 << 20},
	{"resize: span grows in place", roomy_span, do_grow, PASSES(region_claim_at), 3 << 20},
	{"resize: span moves", hemmed_span, do_grow, PASSES(pages_move), 3 << 20},
	{"detach", inbox, ash_thread_detach, PASSES(shrink_owner), 320},
	{"trim", dirty_span, do_trim, PASSES(heap_trim), 3 << 20},
	{"trim: shared slabs", empty_shared, do_trim, PASSES(unowned_shrink), 3 << 20},
	{"trim: a slab of a thread that sleeps", sleeping_owner, do_purge,
	 FUNCTION(pages_purge), NULL, true, 20000},
};
const size_t steps_path_count = sizeof(steps_paths) / sizeof(steps_paths[0]);

/* SPDX-License-Identifier: MIT */
/* The paths on which the harness of deaths walks. */
#include "t_inner_death.h"

#include "census.h"
#include "fork.h"
#include "instance.h"
#include "keep.h"
#include "map.h"
#include "pages.h"
#include "recover.h"
#include "region.h"
#include "release.h"
#include "seats.h"
#include "shared.h"
#include "span.h"

#define PASSES(function) ((void (*)(void))(uintptr_t)(function))

static struct heap *heap(void)
{
	return heap_of(death_heap);
}

/* ---- calls ---- */

static void do_alloc(void)
{
	death_block = ash_heap_alloc(death_heap, death_size);
}

static void do_zalloc(void)
{
	death_block = ash_heap_zalloc(death_heap, 1, death_size);
}

static void do_aligned(void)
{
	death_block = ash_heap_aligned_alloc(death_heap, 4096, death_size);
}

static void do_release(void)
{
	ash_heap_release(death_heap, death_block);
}

static void do_shrink(void)
{
	death_block = ash_heap_resize(death_heap, death_block, death_size / 3);
}

static void do_grow(void)
{
	death_block = ash_heap_resize(death_heap, death_block, death_size * 3);
}

static void do_trim(void)
{
	(void)ash_heap_trim(death_heap, 0);
}

static void do_detach(void)
{
	ash_heap_thread_detach(death_heap);
}

static void do_recover(void)
{
	(void)ash_heap_recover(death_heap);
}

/* ---- what goes before ---- */

static void three(void)
{
	for (unsigned i = 0; i < 3; i++)
		(void)book_take(death_size);
}

static void record(void)
{
	ash_heap_release(death_heap, ash_heap_alloc(death_heap, 16));
}

/* The block to be released or resized. */
static void choose_at(size_t i)
{
	record();
	book->entry[i].loose = true;
	death_block = book->entry[i].p;
}

static void choose(void)
{
	choose_at(book->count - 1);
}

static void take(void)
{
	three();
	choose();
}

static void take_one(void)
{
	(void)book_take(death_size);
	choose();
}

static void take_from_live(void)
{
	record();
	death_by_live(three);
	choose();
}

static void take_from_detached(void)
{
	record();
	death_by_detached(three);
	choose();
}

static void take_from_ended(void)
{
	record();
	death_by_ended(three);
	choose();
}

static void to_last_of_group(void)
{
	unsigned class = class_of(death_size);

	three();
	while (*bin_word(seats_self(heap()), &seats_self(heap())->bins[class]) != 0)
		(void)book_take(death_size);
}

static unsigned slots_left(void)
{
	struct slab *s = seats_self(heap())->bins[class_of(death_size)].slab;
	unsigned left = 0, g;

	for (g = 0; s != NULL && g < s->groups; g++)
		left += bits_count(s->free[g]);
	return left;
}

static void exhaust(void)
{
	do
		(void)book_take(death_size);
	while (slots_left() > 0);
}

/* Two slabs: the first has free slots again. */
static void shelve(void)
{
	exhaust();
	(void)book_take(death_size);
	exhaust();
	book_release(&book->entry[0]);
}

static void exhausted_before(void)
{
	exhaust();
	(void)book_take(death_size);
	exhaust();
	choose_at(0);
}

static size_t free_units(void)
{
	struct region *r = heap()->regions;
	size_t i, n = 0;

	for (i = 0; i < r->chunks; i++)
		n += bits_count(region_chunk(r, i)->units);
	return n;
}

/* No chunk has units. */
static void fill_chunks(void)
{
	exhaust();
	if (free_units() % 2 != 0) /* the first slab of its class: one unit */
		book_enter(ash_heap_alloc(death_heap, UNIT_SIZE - 1), 64);
	while (free_units() > 0)
		book_enter(ash_heap_alloc(death_heap, UNIT_SIZE + 1), 64);
}

static void release_some(void)
{
	for (unsigned i = 0; i < 5; i++)
		book_release(&book->entry[0]);
}

static void mail(void)
{
	exhaust();
	death_by_ended(release_some);
}

static void adopt(void)
{
	death_by_detached(three);
	fill_chunks();
}

static void take_over(void)
{
	death_by_ended(three);
	fill_chunks();
}

static void dirty(void)
{
	char *p = ash_heap_alloc(death_heap, death_size);

	CHECK(p != NULL);
	memset(p, 1, death_size);
	ash_heap_release(death_heap, p);
}

/* The second slab of the class has one block; the current one is another. */
static void last_of_slab(void)
{
	struct chunk *c;
	struct place at, other;
	size_t i;

	exhaust();
	(void)book_take(death_size);
	c = map_find(book->entry[0].p);
	CHECK(place_find(c, book->entry[0].p, &at));
	for (i = book->count; i-- > 1;)
		if (place_find(map_find(book->entry[i].p), book->entry[i].p, &other) &&
		    other.slab == at.slab)
			book_release(&book->entry[i]);
	choose_at(0);
}

/* The same, and spares enough that an older one goes back, and its chunk. */
static void last_of_slab_with_spares(void)
{
	void *p[SPARES + 1];
	unsigned i;

	for (i = 0; i <= SPARES; i++)
		p[i] = ash_heap_alloc(death_heap, 1500 + 900 * i);
	for (i = 0; i <= SPARES; i++)
		ash_heap_release(death_heap, p[i]);
	take_one();
}

/* The only block of its chunk. */
static void last_of_chunk(void)
{
	fill_chunks();
	take_one();
}

/* What was kept throughout a period is more than may be kept. */
static void period_over(void)
{
	void *p = ash_heap_alloc(death_heap, (size_t)10 << 20);

	CHECK(p != NULL);
	memset(p, 1, (size_t)10 << 20);
	take_one();
	heap()->own.retain = (size_t)4 << 20;
	ash_heap_release(death_heap, p);
	store_relaxed(&heap()->low, load_relaxed(&heap()->dirty));
	store_relaxed(&heap()->clock, KEEP_PERIOD - 1);
}

/* Something is taken behind the span. */
static void hemmed(void)
{
	(void)book_take(death_size);
	(void)book_take(death_size);
	choose_at(0);
}

/* The record is checked out: calls take the shared route, as in a handler. */
static void check_out(void)
{
	struct seat_entry *t;

	record();
	CHECK(seats_take(heap(), &t) != NULL);
}

static void take_of_nobody(void)
{
	check_out();
	take();
}

/* A thread without a record: all are in use. */
static void use_records(void)
{
	struct owner *o;

	while ((o = store_owner(heap())) != NULL) {
		owner_reset(o);
		owner_enter(heap(), o, recover_holder());
	}
}

static void no_record(void)
{
	death_by_live(use_records);
	store_of(heap())->refused = 1; /* or it asks of each whether its holder lives */
}

/* ---- a process that died in the middle of everything ---- */

static void die_over_units(void)
{
	three();
	(void)building_begin(heap(), seats_self(heap()));
	CHECK(units_claim(heap(), 3, true).chunk != NULL);
}

static void die_over_chunks(void)
{
	three();
	(void)building_begin(heap(), seats_self(heap()));
	CHECK(region_claim(heap(), 3, 1, false).region != NULL);
}

static void die_over_span(void)
{
	three();
	(void)building_begin(heap(), seats_self(heap()));
	CHECK(span_alloc(heap(), (size_t)3 << 20, 1, false) != NULL);
}

static void die_over_slot_of_nobody(void)
{
	three();
	(void)building_begin(heap(), NULL);
	CHECK(shared_slot(heap(), class_of(death_size)) != NULL);
}

static void die_over_record(void)
{
	(void)building_begin(heap(), NULL);
	CHECK(store_owner(heap()) != NULL);
}

static void die_over_slot(void)
{
	struct owner *o;

	three();
	o = seats_self(heap());
	o->flight = (uint64_t)(uintptr_t)ash_heap_alloc(death_heap, death_size);
}

static void ended_over_units(void)
{
	record();
	death_by_ended(die_over_units);
}

static void ended_over_chunks(void)
{
	record();
	death_by_ended(die_over_chunks);
}

static void ended_over_span(void)
{
	record();
	death_by_ended(die_over_span);
}

static void ended_over_slot_of_nobody(void)
{
	record();
	death_by_ended(die_over_slot_of_nobody);
}

static void ended_over_record(void)
{
	record();
	death_by_ended(die_over_record);
}

static void ended_over_slot(void)
{
	record();
	death_by_ended(die_over_slot);
}

const struct death_path death_paths[] = {
	{"allocate: fast", take, do_alloc, NULL, 48, 0},
	{"allocate: next group", to_last_of_group, do_alloc, PASSES(bin_refill), 48, 0},
	{"allocate: next slab on the shelf", shelve, do_alloc, PASSES(slabs_remove), 700, 0},
	{"allocate: new slab", exhaust, do_alloc, PASSES(slab_make), 700, 0},
	{"allocate: new slab of small slots", exhaust, do_alloc, PASSES(slab_make), 128, 0},
	{"allocate: new slab of one slot", take, do_alloc, PASSES(slab_make), 70000, 0},
	{"allocate: new chunk", fill_chunks, do_alloc, PASSES(region_claim), 700, 0},
	{"allocate: first call of the process", NULL, do_alloc, PASSES(owner_enter), 48, 0},
	{"allocate: first call, a record left by another", take_from_detached, do_alloc, NULL, 48, 0},
	{"allocate: collect remote releases", mail, do_alloc, PASSES(slab_collect), 640, 0},
	{"allocate: adopt a slab", adopt, do_alloc, PASSES(owner_adopt), 2000, 0},
	{"allocate: take over from a dead process", take_over, do_alloc, PASSES(owner_take_over), 2000, 0},
	{"allocate: aligned", take, do_aligned, NULL, 4096, 0},
	{"allocate: span", record, do_alloc, PASSES(span_alloc), 3 << 20, 0},
	{"allocate: of nobody, new slab", check_out, do_alloc, PASSES(shared_slot), 96, 0},
	{"allocate: of nobody", take_of_nobody, do_alloc, PASSES(shared_slot), 96, 0},
	{"allocate: no record to be had", no_record, do_alloc, PASSES(shared_slot), 96, 60},
	{"zero-allocate: fast", take, do_zalloc, NULL, 100, 0},
	{"zero-allocate: of nobody", take_of_nobody, do_zalloc, PASSES(shared_slot), 100, 0},
	{"zero-allocate: span that was written", dirty, do_zalloc, PASSES(span_alloc), 3 << 20, 0},
	{"release: own, fast", take, do_release, NULL, 48, 0},
	{"release: own, slab exhausted before", exhausted_before, do_release, NULL, 700, 0},
	{"release: own, slab gets empty, kept", last_of_slab, do_release, PASSES(spares_add), 900, 0},
	{"release: own, an older spare goes back", last_of_slab_with_spares, do_release, PASSES(slab_unmake), 60000, 0},
	{"release: own, the chunk goes back", last_of_chunk, do_release, NULL, 1 << 20, 0},
	{"release: into a live process's slab", take_from_live, do_release, PASSES(owner_notify), 48, 0},
	{"release: into a vacant record's slab", take_from_detached, do_release, PASSES(owner_visit), 48, 0},
	{"release: into a dead process's slab", take_from_ended, do_release, PASSES(owner_notify), 48, 0},
	{"release: of nobody", take_of_nobody, do_release, PASSES(shared_free), 96, 0},
	{"release: span", take_one, do_release, PASSES(span_release), 3 << 20, 0},
	{"release: own, purge", period_over, do_release, PASSES(pages_purge), 3 << 20, 0},
	{"resize: same class", take, do_shrink, NULL, 8, 0},
	{"resize: moves", take, do_grow, NULL, 100, 0},
	{"resize: slot to span", take, do_grow, PASSES(span_alloc), 900 << 10, 0},
	{"resize: a live process's block", take_from_live, do_grow, PASSES(owner_notify), 100, 0},
	{"resize: span shrinks", take_one, do_shrink, PASSES(span_fit), 9 << 20, 0},
	{"resize: span grows in place", take_one, do_grow, PASSES(region_claim_at), 3 << 20, 0},
	{"resize: span moves", hemmed, do_grow, PASSES(span_release), 3 << 20, 0},
	{"detach", mail, do_detach, PASSES(owner_shrink), 640, 0},
	{"trim", dirty, do_trim, PASSES(heap_trim), 3 << 20, 0},
	{"recover: a dead process's slabs", take_from_ended, do_recover, PASSES(owner_take_over), 48, 0},
	{"recover: a slot in flight", ended_over_slot, do_recover, PASSES(recover_settle), 48, 0},
	{"recover: units", ended_over_units, do_recover, PASSES(units_give), 48, 0},
	{"recover: chunks", ended_over_chunks, do_recover, PASSES(region_give), 48, 0},
	{"recover: a span", ended_over_span, do_recover, PASSES(span_release), 48, 0},
	{"recover: a slot of nobody", ended_over_slot_of_nobody, do_recover, NULL, 48, 0},
	{"recover: a record", ended_over_record, do_recover, PASSES(owner_enter), 48, 0},
};
const size_t death_path_count = sizeof(death_paths) / sizeof(death_paths[0]);

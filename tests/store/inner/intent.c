/* SPDX-License-Identifier: MIT */
/* Single functions of intents (store/recover/intent.h): names, slots, and what each step of a change leaves. */
#include "store/recover/intent.h"

#include "front/slot.h"
#include "store/recover/recover.h"

#include "store/inner/shared.h" /* last: its names are short */

static struct owner *o;
static void **slots;

static void open_heap(void)
{
	shared_make(16 * MIB);
	slots = NOT_NULL(ash_heap_zalloc(heap, 8, sizeof *slots));
	o = shared_record(heap);
}

static uint64_t word(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static uint16_t tag_of(void *p)
{
	struct slot_ref at;

	CHECK(slot_find(map_find(p), p, &at));
	return *census_tag(at.slab, at.index);
}

/* Each intent of each record has a number, a tag and a mark of its own. */
TEST(inner_intent_names, 10)
{
	struct intent *i;
	unsigned r, n;

	open_heap();
	for (r = 0; r < 5; r++)
		for (n = 0; n < INTENTS; n++) {
			i = &truth_of(store_record(store, r))->intents[n];
			CHECK_EQ(intent_tag(store, i), TAG_INTENT | (r * INTENTS + n));
			CHECK_EQ(intent_mark(store, i), (r * INTENTS + n) << MARK_NUMBER | MARK);
		}
}

/* A slot may be in the chunks, the heap's root or names, or the word behind a slab's remote words. */
TEST(inner_intent_slots, 10)
{
	const struct region *r;
	uint64_t leaf, units, chunks;

	open_heap();
	r = region_first(h);
	units = r->chunks * CHUNK_UNITS;
	chunks = word(r->base);
	leaf = word(r->remote) + KINDS_SLOT * sizeof(uint64_t);
	CHECK(intent_may_change(store, r, word(&store->heap.root)) && intent_may_change(store, r, word(&store->names)));
	CHECK(!intent_may_change(store, r, word(&store->heap.root) + 8) && !intent_may_change(store, r, word(&store->magic)));
	CHECK(intent_may_change(store, r, chunks) && intent_may_change(store, r, chunks + (r->chunks << CHUNK_SHIFT) - 8));
	CHECK(!intent_may_change(store, r, chunks + 4) && !intent_may_change(store, r, chunks + (r->chunks << CHUNK_SHIFT)));
	CHECK(intent_may_change(store, r, leaf) && intent_may_change(store, r, leaf + (units - 1) * r->remote_stride));
	CHECK(!intent_may_change(store, r, leaf + 8) && !intent_may_change(store, r, leaf + 1 * r->remote_stride - 8));
	CHECK(!intent_may_change(store, r, leaf + units * r->remote_stride) && !intent_may_change(store, r, leaf - r->remote_stride));
}

/* What left the slot has the intent's tag, and the state says so: a use of its address later is another block. */
TEST(inner_intent_steps, 10)
{
	struct intent *i;
	void *old, *fresh;
	uint64_t *slot;
	uint16_t mine;

	open_heap();
	slot = (void *)slots;
	old = ash_heap_alloc(heap, 100);
	fresh = ash_heap_alloc(heap, 100);
	mine = tag_of(fresh);
	*slot = word(old);
	i = intent_claim(o);
	CHECK(i != NULL && intent_is(i, INTENT_CLAIMED) && intents_busy(o));
	/* Another value: nothing has happened, and a block that was no draft stays the process's. */
	CHECK(!intent_change(h, i, slot, word(fresh), word(fresh), word(old)));
	CHECK(intent_is(i, INTENT_CLAIMED) && tag_of(fresh) == mine && tag_of(old) == mine);
	intent_end(i);
	CHECK(intent_claim(o) == i);
	CHECK(intent_change(h, i, slot, word(old), word(fresh), word(old)));
	CHECK(*slot == word(fresh) && intent_is(i, INTENT_RELEASING));
	CHECK(tag_of(old) == intent_tag(store, i) && tag_of(fresh) == mine);
	CHECK_EQ(intent_mark(store, i) >> MARK_USE, 2);
	/* So it is released if the thread dies here. */
	intents_settle(o, false);
	CHECK(intent_is(i, INTENT_IDLE) && !intents_busy(o));
	CHECK(!intent_has_tag(h, word(old), intent_tag(store, i)) && tag_of(fresh) == mine);
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* A thread was stopped behind the first step; with a draft, or with a block of its own. */
static struct intent *stopped(uint64_t *slot, void *fresh, void *old, bool draft)
{
	struct intent *i = NOT_NULL(intent_claim(o));

	i->slot = word(slot);
	i->fresh = word(fresh);
	i->old = word(old);
	intent_set(i, INTENT_ARMED | (draft ? INTENT_OF_DRAFT : 0));
	*slot = intent_mark(store, i);
	return i;
}

/* A thread that meets the mark completes that change, and makes its own if the slot is then as it expects. */
TEST(inner_intent_helps, 10)
{
	uint64_t *slot;
	struct intent *i, *mine;
	void *p, *q, *r;
	unsigned draft;

	for (draft = 0; draft < 2; draft++) {
		open_heap();
		slot = (void *)slots;
		p = ash_heap_alloc(heap, 100);
		q = ash_heap_alloc(heap, 100);
		r = ash_heap_alloc(heap, 100);
		i = stopped(slot, q, p, draft != 0);
		mine = intent_claim(o);
		CHECK(mine != NULL && mine != i);
		CHECK(intent_change(h, mine, slot, word(q), word(r), 0));
		CHECK_EQ(*slot, word(r));
		intent_end(mine);
		/* The first change is known to have happened, and which use of the intent it was. */
		CHECK(intent_is(i, INTENT_DONE) && i->state / INTENT_USE == 1);
		CHECK_EQ((i->state & INTENT_OF_DRAFT) != 0, draft != 0);
		/* Its thread died: `old` is released, once, and what is in the slot is not. */
		intents_settle(o, false);
		CHECK(intent_is(i, INTENT_IDLE));
		CHECK(!intent_tag_block(h, word(p), 0) && intent_tag_block(h, word(q), 1) && intent_tag_block(h, word(r), 1));
		CHECK_EQ(ash_heap_check(heap), 0);
	}
}

/* A change that is DONE and took nothing out: its thread died, and nothing is released. */
TEST(inner_intent_settles_without_old, 10)
{
	struct intent *i;
	void *p;

	open_heap();
	p = ash_heap_alloc(heap, 100);
	i = stopped((void *)slots, p, NULL, false);
	intents_settle(o, false);
	CHECK(slots[0] == p && intent_is(i, INTENT_IDLE) && intent_tag_block(h, word(p), 1));
	CHECK_EQ(ash_heap_check(heap), 0);
}

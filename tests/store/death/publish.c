/* SPDX-License-Identifier: MIT */
/* Slots, drafts and names on the paths of the harness of deaths, and what must hold of them. */
#include "store/death/before.h"

#include "front/slot.h"
#include "heaps/seats.h"
#include "store/calls/draft.h"
#include "store/recover/intent.h"
#include "support/blocks.h"

void **death_slot;

/* ---- before ---- */

/* A slot, NULL; the block that has it is in the book, without a pattern. */
void before_slot(void)
{
	before_record();
	death_slot = (void **)(void *)(book_enter(ash_heap_zalloc(death_heap, 1, 64), 0)->p + 8);
	CHECK_EQ(*death_slot, NULL);
}

/* What the call takes out of the slot is the last block of the book. */
static void slot_has_last(void)
{
	struct entry *e;
	void *p;

	before_slot();
	e = &book->entry[book->count - 2];
	p = e->p;
	e->loose = true;
	*death_slot = p;
}

void before_slot_own(void)
{
	before_three();
	slot_has_last();
}

void before_slot_one(void)
{
	(void)book_take(death_size);
	slot_has_last();
}

void before_slot_detached(void)
{
	before_record();
	death_by_detached(before_three);
	slot_has_last();
}

void before_slot_unowned(void)
{
	before_check_out();
	before_three();
	slot_has_last();
}

void before_slot_none_unowned(void)
{
	before_check_out();
	before_slot();
}

/* Three drafts: only one intent is left. */
static void *drafts[INTENTS - 1];

void before_slot_drafts(void)
{
	unsigned i;

	before_slot();
	for (i = 0; i < INTENTS - 1; i++)
		CHECK((drafts[i] = ash_heap_draft(death_heap, death_size)) != NULL);
}

/* The block has a tag, and the slab to which it will move has none yet. */
void before_take_tagged(void)
{
	before_three();
	(void)book_enter(ash_heap_alloc_tagged(death_heap, death_size, 7), 0);
	before_choose(book->count - 1);
}

/* ---- calls ---- */

void do_alloc_into(void)
{
	death_block = ash_heap_alloc_into(death_heap, death_size, death_slot, NULL);
}

void do_release_from(void)
{
	CHECK_EQ(ash_heap_release_from(death_heap, death_slot), ASH_SLOT_DONE);
}

void do_replace(void)
{
	void *p = ash_heap_draft(death_heap, 200);

	CHECK_EQ(ash_heap_replace(death_heap, death_slot, *death_slot, p), ASH_SLOT_DONE);
}

void do_replace_by_span(void)
{
	void *p = ash_heap_draft(death_heap, (size_t)3 << 20);

	CHECK_EQ(ash_heap_replace(death_heap, death_slot, *death_slot, p), ASH_SLOT_DONE);
}

/* Another process was faster. */
void do_replace_late(void)
{
	void *p = ash_heap_draft(death_heap, 200);

	CHECK_EQ(ash_heap_replace(death_heap, death_slot, p, p), ASH_SLOT_CHANGED);
	CHECK_EQ(ash_heap_replace(death_heap, death_slot, death_slot, p), ASH_SLOT_CHANGED);
	ash_heap_release(death_heap, p);
}

void do_bind(void)
{
	death_slot = ash_heap_slot(death_heap, "a name", NULL);
	CHECK_EQ(ash_heap_bind(death_heap, "a name", ash_heap_draft(death_heap, death_size)), ASH_SLOT_DONE);
}

void do_tagged(void)
{
	CHECK_EQ(ash_heap_replace(death_heap, death_slot, NULL, ash_heap_draft_tagged(death_heap, death_size, 7)),
		 ASH_SLOT_DONE);
}

void do_load(void)
{
	death_block = ash_heap_load(death_heap, death_slot);
}

/* ---- a process that died in the middle of a change ---- */

static unsigned die_at;

/* As intent_change begins: ARMED, and with die_at ARMED also the mark. */
static void die_changing(void)
{
	struct owner *o;
	struct intent *i;
	enum ash_slot why;
	void *p;
	uint64_t old = (uint64_t)(uintptr_t)*death_slot;

	before_record();
	p = draft_make(heap(), death_size, false, 0, &i, &why);
	o = seats_self(heap());
	CHECK(p != NULL && o != NULL);
	i->slot = (uint64_t)(uintptr_t)death_slot;
	i->old = old;
	i->state = (i->state & ~INTENT_KIND) | INTENT_ARMED | INTENT_OF_DRAFT;
	CHECK(intent_tag_block(heap(), i->fresh, i->tag));
	if (die_at != INTENT_ARMED)
		return;
	*death_slot = (void *)(i->state / INTENT_USE << MARK_USE | /* NOLINT */
			       ((uint64_t)intent_tag(store_of(heap()), i) & TAG_PROCESS) << MARK_NUMBER | MARK);
}

static void ended_at(unsigned kind)
{
	before_three();
	slot_has_last();
	die_at = kind;
	death_by_ended(die_changing);
}

void ended_armed(void)
{
	ended_at(INTENT_CLAIMED);
}

void ended_marked(void)
{
	ended_at(INTENT_ARMED);
}

/* What the mark takes out of the slot is in an unowned slab. */
void ended_marked_unowned(void)
{
	before_check_out();
	ended_marked();
}

/* ---- what must hold ---- */

/* Calls see for each block of the heap's own; returns their number. */
static size_t own_blocks(void (*see)(void *p))
{
	struct store *s = store_of(heap());
	uint64_t *names = (uint64_t *)intent_read(heap(), &s->names), p, next; /* NOLINT */
	const struct region *r = heap()->regions;
	size_t n = names != NULL, i;

	for (i = 0; names != NULL && i < 1024; i++)
		for (p = intent_read(heap(), &names[i]); p != 0; p = next, n++) {
			next = *(uint64_t *)p; /* NOLINT */
			if (see != NULL)
				see((void *)p); /* NOLINT */
		}
	for (i = 0; i < (size_t)DEATH_CHUNKS * CHUNK_UNITS; i++)
		/* Of a unit that no slab ever began in the words are not read: that would page them in. */
		if (region_chunk(r, i / CHUNK_UNITS)->kind == CHUNK_SLABS &&
		    ((struct slab *)(void *)(region_chunk(r, i / CHUNK_UNITS) + 1) + i % CHUNK_UNITS)->made > 0 &&
		    (p = intent_read(heap(), (uint64_t *)(void *)(r->remote + i * r->remote_stride) + KINDS_SLOT)) != 0) {
			n++;
			if (see != NULL)
				see((void *)p); /* NOLINT */
		}
	if (see != NULL && names != NULL)
		see(names);
	return n;
}

static void release_own(void *p)
{
	ash_heap_release(death_heap, p);
}

void publish_release_own(void)
{
	(void)own_blocks(release_own);
}

/* After recovery: a block is there if and only if the slot names it. */
void publish_is_right(size_t found, const struct entry *extra, bool (*is_there)(const struct entry *))
{
	size_t i, named = 0;
	struct slot_ref at;
	void *p;

	CHECK_EQ(stats_of(death_heap).blocks, found + own_blocks(NULL));
	if (death_slot == NULL)
		return;
	p = ash_heap_load(death_heap, death_slot);
	CHECK(((uintptr_t)*death_slot & MARK) == 0);
	if (p != NULL && slot_find(map_find(p), p, &at))
		CHECK((load_relaxed(census_tag(at.slab, at.index)) & TAG_INTENT) != TAG_INTENT);
	for (i = 0; i < book->count; i++)
		if (book->entry[i].loose) {
			CHECK_EQ(is_there(&book->entry[i]), book->entry[i].p == p);
			named += book->entry[i].p == p;
		}
	CHECK_EQ(named + (extra != NULL), p != NULL);
	CHECK(extra == NULL || extra->p == p);
}

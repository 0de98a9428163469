/* SPDX-License-Identifier: MIT */
#include "store/recover/intent.h"

#include "store/allocator.h"

/* ---- names of an intent ---- */

static uint64_t intent_number(const struct store *s, const struct intent *i)
{
	size_t at = (size_t)((const char *)i - s->records);
	const struct owner *o = store_record(s, at / RECORD_BYTES);

	return at / RECORD_BYTES * INTENTS + (size_t)(i - truth_of(o)->intents);
}

uint16_t intent_tag(const struct store *s, const struct intent *i)
{
	return (uint16_t)(TAG_INTENT | intent_number(s, i));
}

uint64_t intent_owner(const struct store *s, uint16_t tag)
{
	uint64_t record = (tag & TAG_PROCESS) / INTENTS, process;

	if (record >= load_acquire(&s->records_used))
		return TAG_UNKNOWN;
	process = load_relaxed(&truth_of(store_record(s, record))->census);
	return process > CENSUS_LAST ? TAG_UNKNOWN : process;
}

uint64_t intent_mark(const struct store *s, const struct intent *i)
{
	return load_relaxed(&i->state) / INTENT_USE << MARK_USE | intent_number(s, i) << MARK_NUMBER | MARK;
}

/* Returns the intent with this mark, or NULL if no intent has this mark. */
static struct intent *marked(const struct store *s, uint64_t mark)
{
	uint64_t number = mark >> MARK_NUMBER & ((1 << (MARK_USE - MARK_NUMBER)) - 1);
	struct intent *i;

	if (number / INTENTS >= load_acquire(&s->records_used))
		return NULL;
	i = &truth_of(store_record(s, number / INTENTS))->intents[number % INTENTS];
	return intent_mark(s, i) == mark ? i : NULL;
}

/* ---- blocks ---- */

/* Finds the tag of a block: *tag, or *wide for a span.  Returns false if there is no block at p. */
static bool tag_find(struct heap *h, uint64_t p, uint16_t **tag, uint64_t **wide)
{
	void *block = (void *)p; /* NOLINT: an address */
	struct chunk *c = region_find(h, block);
	struct slab *s;
	uint64_t index;

	*tag = NULL;
	if (c == NULL)
		return false;
	if (!slab_find(c, block, &s)) {
		*wide = &c->clean;
		return span_is(c, block);
	}
	/*
	 * The program may have released a draft.  Then the slot does not count as taken for the draft, however the
	 * slot is found: no block has the draft's tag any more.
	 */
	if (look_at_slot(s, block, &index) == 0)
		return false;
	*tag = census_tag(s, index);
	return true;
}

bool intent_tag_block(struct heap *h, uint64_t p, uint64_t tag)
{
	uint64_t *wide;
	uint16_t *narrow;

	if (!tag_find(h, p, &narrow, &wide))
		return false;
	/* Pairs with intent_has_tag: the tag is set before the state that refers to it. */
	if (narrow != NULL)
		store_release(narrow, (uint16_t)tag);
	else
		store_release(wide, tag);
	return true;
}

bool intent_has_tag(struct heap *h, uint64_t p, uint16_t tag)
{
	uint64_t *wide;
	uint16_t *narrow;

	/* Pairs with slot_take and intent_tag_block: the tag is no older than the taken bit. */
	return tag_find(h, p, &narrow, &wide) &&
	       (narrow != NULL ? load_acquire(narrow) : (uint16_t)load_acquire(wide)) == tag;
}

/* ---- claiming ---- */

void intent_set(struct intent *i, uint64_t kind)
{
	/* Pairs with intent_is, and with the thread that takes the record over. */
	store_release(&i->state, (load_relaxed(&i->state) & ~(INTENT_USE - 1)) | kind);
}

struct intent *intent_claim(struct owner *o)
{
	struct store *s = store_of(o->heap);
	unsigned n;

	for (n = 0; n < INTENTS; n++) {
		struct intent *i = &truth_of(o)->intents[n];
		uint64_t state = load_relaxed(&i->state);
		/* Finds whether the program has released a draft by ash_heap_release. */
		bool stale = (state & INTENT_KIND) == INTENT_DRAFT &&
			     !intent_has_tag(o->heap, load_relaxed(&i->fresh), intent_tag(s, i));

		if ((state & INTENT_KIND) != INTENT_IDLE && !stale)
			continue;
		/*
		 * A compare-and-swap, because a signal handler may have claimed the intent.  No other thread claims
		 * this intent, so the orders pair with nothing.
		 */
		if (!cas_acq_rel(&i->state, &state,
				 (state & ~(INTENT_USE - 1)) + INTENT_USE + INTENT_CLAIMED))
			continue;
		store_release(&i->fresh, (uint64_t)0); /* pairs with the fence of help */
		store_relaxed(&i->old, (uint64_t)0);
		return i;
	}
	return NULL;
}

bool intents_busy(const struct owner *o)
{
	unsigned n;

	for (n = 0; n < INTENTS; n++)
		if (!intent_is(&truth_of(o)->intents[n], INTENT_IDLE) && !intent_is(&truth_of(o)->intents[n], INTENT_DRAFT))
			return true;
	return false;
}

struct intent *intent_of_draft(struct owner *o, const void *p)
{
	unsigned n;

	for (n = 0; n < INTENTS; n++) {
		struct intent *i = &truth_of(o)->intents[n];

		if (load_relaxed(&i->fresh) == (uint64_t)(uintptr_t)p && p != NULL && intent_is(i, INTENT_DRAFT) &&
		    intent_has_tag(o->heap, (uint64_t)(uintptr_t)p, intent_tag(store_of(o->heap), i)))
			return i;
	}
	return NULL;
}

void intent_end(struct intent *i)
{
	intent_set(i, INTENT_IDLE);
}

/* ---- changing ---- */

void intent_complete(struct intent *i, uint64_t *slot, uint64_t fresh, uint64_t mark)
{
	uint64_t state = (mark >> MARK_USE) * INTENT_USE | INTENT_ARMED, kind;

	/* The state is first, because a removed mark tells recovery that the intent is DONE. */
	for (kind = 0; kind <= INTENT_OF_DRAFT; kind += INTENT_OF_DRAFT) {
		uint64_t armed = state | kind;

		if (cas_seq_cst(&i->state, &armed, (armed & ~INTENT_KIND) | INTENT_DONE))
			break;
	}
	/* Pairs with intent_read: the new block is complete. */
	(void)cas_seq_cst(slot, &mark, fresh);
}

/*
 * Completes the change of a mark.  An intent does not change while the mark is in a slot.  Returns true if the mark
 * was valid and is now gone.
 */
static bool help(struct store *s, uint64_t *slot, uint64_t mark)
{
	struct intent *i = marked(s, mark);
	uint64_t fresh;

	if (i != NULL && load_relaxed(&i->slot) == (uint64_t)(uintptr_t)slot) {
		fresh = load_relaxed(&i->fresh);
		/* Pairs with the claim of the next use: if the use is still the mark's, `fresh` was the mark's, too. */
		fence_acquire();
		if (marked(s, mark) == i)
			intent_complete(i, slot, fresh, mark);
	}
	return load_acquire(slot) != mark; /* pairs with intent_complete */
}

uint64_t intent_read(struct heap *h, const uint64_t *slot)
{
	/* Pairs with intent_complete: the reader sees all that the maker stored in the block. */
	uint64_t word = load_acquire(slot);

	while (unlikely((word & MARK) != 0)) {
		if (!help(store_of(h), (uint64_t *)(uintptr_t)slot, word))
			return 0; /* not a mark of this heap */
		word = load_acquire(slot);
	}
	return word;
}

void intent_roll_back(struct heap *h, struct intent *i, uint64_t kind)
{
	if ((load_relaxed(&i->state) & INTENT_OF_DRAFT) != 0)
		(void)intent_tag_block(h, load_relaxed(&i->fresh), intent_tag(store_of(h), i));
	intent_set(i, kind);
}

bool intent_change(struct heap *h, struct intent *i, uint64_t *slot, uint64_t expected,
		   uint64_t fresh, uint64_t old)
{
	struct store *s = store_of(h);
	bool draft = fresh != 0 && load_relaxed(&i->fresh) == fresh;
	uint64_t before = load_relaxed(&i->state) & INTENT_KIND;
	uint64_t mark = intent_mark(s, i), word = expected;

	store_relaxed(&i->slot, (uint64_t)(uintptr_t)slot);
	store_relaxed(&i->old, old);
	store_release(&i->fresh, fresh); /* pairs with the fence of help */
	intent_set(i, INTENT_ARMED | (draft ? INTENT_OF_DRAFT : 0));
	/* Before others can see the block, because they may release the block at once. */
	if (draft)
		(void)intent_tag_block(h, fresh, load_relaxed(&i->tag));
	while (!cas_seq_cst(slot, &word, mark)) {
		if ((word & MARK) != 0 && help(s, slot, word)) {
			word = expected;
			continue;
		}
		/* In a forged file, the mark of no intent counts as 0, as in intent_read. */
		if ((word & MARK) != 0 && expected == 0)
			continue;
		intent_roll_back(h, i, before);
		return false;
	}
	intent_complete(i, slot, fresh, mark);
	if (old == 0)
		return true;
	/* Now only the intent names `old`.  RELEASING means that `old` has the tag of the intent. */
	(void)intent_tag_block(h, old, intent_tag(s, i));
	intent_set(i, INTENT_RELEASING);
	return true;
}

bool intent_may_change(const struct store *s, const struct region *r, uint64_t slot)
{
	const struct store *base = s->base;
	uint64_t leaf = slot - (uintptr_t)r->remote - KINDS_SLOT * sizeof(uint64_t);

	return slot % sizeof(uint64_t) == 0 &&
	       (slot - (uintptr_t)r->base < load_relaxed(&r->chunks) << CHUNK_SHIFT ||
		slot == (uintptr_t)&base->heap.root || slot == (uintptr_t)&base->names ||
		(leaf % r->remote_stride == 0 &&
		 leaf / r->remote_stride < load_relaxed(&r->chunks) * CHUNK_UNITS));
}

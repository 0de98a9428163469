/* SPDX-License-Identifier: MIT */
#include "store/data/slots.h"

#include "store/allocator.h"
#include "store/calls/draft.h"
#include "store/recover/block_tags.h"
#include "store/recover/intent.h"

/* ---- drafts ---- */

void *ash_heap_draft(ash_heap *heap, size_t size)
{
	struct intent *i;
	enum ash_slot why;
	void *p;

	if (store_behind(heap) == NULL)
		return ash_heap_alloc(heap, size);
	p = draft_make(heap_of(heap), size, false, 0, &i, &why);
	if (p != NULL)
		intent_set(i, INTENT_DRAFT);
	return p;
}

void *ash_heap_draft_tagged(ash_heap *heap, size_t size, unsigned char tag)
{
	struct intent *i;
	void *p;

	if (tag == 0 || store_behind(heap) == NULL)
		return ash_heap_draft(heap, size);
	p = draft_tagged(heap_of(heap), size, tag, &i);
	if (p != NULL)
		intent_set(i, INTENT_DRAFT);
	return p;
}

void *ash_heap_alloc_tagged(ash_heap *heap, size_t size, unsigned char tag)
{
	struct heap *h = heap_of(heap);
	struct intent *i;
	void *p;

	if (tag == 0 || store_behind(heap) == NULL)
		return ash_heap_alloc(heap, size);
	p = draft_tagged(h, size, tag, &i);
	if (p == NULL)
		return NULL;
	/* The intent has the block until the tag is that of the process. */
	(void)intent_tag_block(h, (uint64_t)(uintptr_t)p, load_relaxed(&i->tag));
	intent_end(i);
	return p;
}

/* ---- slots ---- */

/*
 * Returns whether the word lies in a draft of this thread.  The death of the thread releases the draft, but not the
 * block that is named there.
 */
static bool is_in_draft(struct heap *h, uint64_t slot)
{
	struct owner *self = seats_self_guess(h);
	unsigned i;

	if (self == NULL && (self = seats_self(h)) == NULL)
		return false;
	for (i = 0; i < INTENTS; i++) {
		uint64_t p = load_relaxed(&truth_of(self)->intents[i].fresh);

		if (slot - p < h->own.cap && kinds_block(h, p, slot - p + sizeof slot) &&
		    intent_of_draft(self, (void *)p) != NULL) /* NOLINT: an address */
			return true;
	}
	return false;
}

static bool is_slot(struct heap *h, const void *slot)
{
	return intent_may_change(store_of(h), region_first(h), (uintptr_t)slot) &&
	       !is_in_draft(h, (uintptr_t)slot);
}

/*
 * The answer if `old` and `fresh` have one address.  This is no fault of the caller's while the slot names another
 * block: another thread may have replaced and released `old`, and `fresh` been allocated there.
 */
static enum ash_slot change_nothing(ash_heap *heap, const void *slot, const void *both)
{
	if (ash_heap_load(heap, slot) != both)
		return ASH_SLOT_CHANGED;
	return both == NULL ? ASH_SLOT_DONE : ASH_SLOT_OUTSIDE;
}

/*
 * The emptied slot did not name a block, which is misuse.  The slot gets the old word back, for readers of the heap
 * afterwards.  The misuse cannot be found before the change, because other threads may replace and release the block
 * that the slot names.
 */
static void put_back(uint64_t *slot, uint64_t old)
{
	uint64_t none = 0;

	(void)cas_acq_rel(slot, &none, old); /* acquire and release pair with nothing, because old is no block */
}

static bool is_block(ash_heap *heap, const void *p)
{
	const struct arena *a = arena_of(heap);

	return p == NULL || (a != NULL ? arena_has(a, p) && arena_bytes(a, p) != 0
				       : kinds_block(heap_of(heap), (uint64_t)(uintptr_t)p, 1));
}

/* Changes a slot in a heap of one process, or in memory of the caller. */
static enum ash_slot change_plainly(ash_heap *heap, uint64_t *slot, void *old, void *fresh)
{
	uint64_t word = (uint64_t)(uintptr_t)old;

	if (slot == NULL || (uintptr_t)slot % sizeof *slot != 0)
		return ASH_SLOT_OUTSIDE;
	if (old == fresh)
		return change_nothing(heap, slot, old);
	/* Pairs with ash_heap_load: the block is complete. */
	if (!cas_acq_rel(slot, &word, (uint64_t)(uintptr_t)fresh))
		return ASH_SLOT_CHANGED;
	if (fresh == NULL && !is_block(heap, old))
		put_back(slot, (uint64_t)(uintptr_t)old);
	ash_heap_release(heap, old);
	return ASH_SLOT_DONE;
}

/* i is the draft that is `fresh`, or was claimed for this change. */
static enum ash_slot change_by(struct heap *h, struct intent *i, uint64_t *slot, uint64_t old,
			       uint64_t fresh, bool release)
{
	void *block = (void *)old; /* NOLINT: an address */
	bool done;

	if (!intent_change(h, i, slot, old, fresh, release ? old : 0))
		return ASH_SLOT_CHANGED;
	done = !release || old == 0 || instance_release_drafted(h, block);
	intent_end(i);
	if (!done && fresh == 0)
		put_back(slot, old);
	if (!done)
		diagnose(CALL_HEAP_RELEASE, block);
	return ASH_SLOT_DONE;
}

enum ash_slot slots_change(struct heap *h, uint64_t *slot, uint64_t old, uint64_t fresh, bool release)
{
	struct owner *self = draft_record(h);
	struct intent *draft, *i;
	enum ash_slot did;

	draft = self == NULL ? NULL : intent_of_draft(self, (void *)fresh); /* NOLINT: an address */
	i = draft;
	if (i == NULL && (self == NULL || (i = intent_claim(self)) == NULL))
		return ASH_SLOT_NO_RECORD;
	did = change_by(h, i, slot, old, fresh, release);
	if (did == ASH_SLOT_CHANGED && draft == NULL)
		intent_end(i);
	return did;
}

enum ash_slot ash_heap_replace(ash_heap *heap, void *slot, void *old, void *fresh)
{
	struct heap *h = heap_of(heap);

	if (store_behind(heap) == NULL)
		return change_plainly(heap, slot, old, fresh);
	/* An odd address would be read as a mark, and an address within a block would never be released. */
	if (!is_slot(h, slot) || (fresh != NULL && !kinds_block(h, (uint64_t)(uintptr_t)fresh, 1)))
		return ASH_SLOT_OUTSIDE;
	if (old == fresh)
		return change_nothing(heap, slot, old);
	return slots_change(h, slot, (uint64_t)(uintptr_t)old, (uint64_t)(uintptr_t)fresh, true);
}

void *ash_heap_load(ash_heap *heap, const void *slot)
{
	if (store_behind(heap) == NULL)
		/* Pairs with change_plainly. */
		return (void *)load_acquire((const uint64_t *)slot); /* NOLINT: an address */
	return (void *)intent_read(heap_of(heap), slot);	     /* NOLINT */
}

void *ash_heap_alloc_into(ash_heap *heap, size_t size, void *slot, enum ash_slot *why)
{
	struct heap *h = heap_of(heap);
	bool shared = store_behind(heap) != NULL;
	enum ash_slot reason = ASH_SLOT_OUTSIDE;
	struct intent *i = NULL;
	void *p = NULL;

	if (shared ? !is_slot(h, slot) : slot == NULL || (uintptr_t)slot % sizeof(uint64_t) != 0)
		goto out;
	reason = ASH_SLOT_CHANGED;
	if (ash_heap_load(heap, slot) != NULL)
		goto out;
	if (shared) {
		p = draft_make(h, size, true, 0, &i, &reason);
	} else {
		p = ash_heap_zalloc(heap, 1, size);
		reason = ASH_SLOT_NO_MEMORY;
	}
	if (p == NULL)
		goto out;
	reason = shared ? change_by(h, i, slot, 0, (uint64_t)(uintptr_t)p, true)
			: change_plainly(heap, slot, NULL, p);
	if (reason != ASH_SLOT_DONE) {
		if (shared)
			draft_drop(h, i, p);
		else
			ash_heap_release(heap, p);
		p = NULL;
	}
out:
	if (why != NULL)
		*why = reason;
	return p;
}

enum ash_slot ash_heap_release_from(ash_heap *heap, void *slot)
{
	bool shared = store_behind(heap) != NULL;
	enum ash_slot reason = ASH_SLOT_CHANGED;
	void *old;

	if (shared ? !is_slot(heap_of(heap), slot) : slot == NULL || (uintptr_t)slot % sizeof(uint64_t) != 0)
		return ASH_SLOT_OUTSIDE;
	/* Each attempt that fails is another thread's success. */
	while (reason == ASH_SLOT_CHANGED && (old = ash_heap_load(heap, slot)) != NULL)
		reason = ash_heap_replace(heap, slot, old, NULL);
	return reason;
}

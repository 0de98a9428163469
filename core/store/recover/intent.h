/* SPDX-License-Identifier: MIT */
/*
 * Intents: a word of a shared heap gets another block in one step, although the changing thread may be killed at any
 * instruction.
 *
 * The word is a slot: 0, the address of a block, or for a moment a mark, which names the intent of the changing
 * thread.  So it is certain whether a change happened: it did if the mark was or is there.  A mark is never used
 * again, because marks count the uses of an intent; so a late compare-and-swap with an old mark fails.
 *
 *   kind        slot       a thread that dies here leaves
 *   IDLE
 *   CLAIMED                a block that a call is allocating, or has: it is released
 *   DRAFT                  a block that only the intent names: it is released
 *   ARMED       expected   as DRAFT; or, with the mark in the slot, a change that is completed
 *   DONE        mark       the change is completed: slot = fresh, then RELEASING
 *   RELEASING   fresh      `old` with the tag of this intent: it is released
 *
 *   slot        expected --CAS--> mark --CAS--> fresh         tag of fresh: intent -> process
 *   state       ARMED             DONE          RELEASING     tag of old:  process -> intent
 *
 * The step is the first compare-and-swap.  A thread that meets a mark makes the intent DONE, completes the slot and
 * goes on: no thread waits.  The old block is released by the thread whose mark it was, or by the thread that
 * recovers the record of that thread.
 *
 * Blocks that only an intent names have the tag of the intent (census.h).  A released block has another tag as soon
 * as it is handed out again.  So no block is released twice, however often recovery itself dies, because recovery
 * releases only taken blocks with the tag of this intent.
 */
#ifndef CORE_INTENT_H
#define CORE_INTENT_H

#include "store/file/store.h"
#include "store/recover/census.h"

enum {
	INTENT_IDLE,
	INTENT_CLAIMED,
	INTENT_DRAFT,
	INTENT_ARMED,
	INTENT_DONE,
	INTENT_RELEASING,
	INTENT_KINDS
};
#define INTENT_KIND	((uint64_t)7)
#define INTENT_OF_DRAFT ((uint64_t)8) /* flag: fresh is a draft of this intent */
#define INTENT_USE	((uint64_t)16) /* added for each use */

/* A mark: uses of the intent | the intent's number | 1.  No block has an odd address. */
#define MARK	    ((uint64_t)1)
#define MARK_NUMBER 1  /* shift */
#define MARK_USE    15 /* shift */
_Static_assert(STORE_RECORDS * INTENTS <= 1 << (MARK_USE - MARK_NUMBER), "numbers fit into marks");
_Static_assert(STORE_RECORDS * INTENTS <= 1 << 14, "and into tags, beside TAG_INTENT");

static inline bool intent_is(const struct intent *i, uint64_t kind)
{
	/* Pairs with the releases of the state: the other members are set. */
	return (load_acquire(&i->state) & INTENT_KIND) == kind;
}

/* Returns the tag of a block that only this intent names. */
INTERNAL uint16_t intent_tag(const struct store *s, const struct intent *i);

/* Returns the process whose record a tag with TAG_LEAVING names, as its own tag in the census. */
INTERNAL uint64_t intent_owner(const struct store *s, uint16_t tag);

/* Claims an intent of a record, which becomes CLAIMED.  Returns NULL if all are in use. */
INTERNAL struct intent *intent_claim(struct owner *o);
/* Sets the kind of the intent, perhaps with INTENT_OF_DRAFT. */
INTERNAL void intent_set(struct intent *i, uint64_t kind);
/* Returns whether a handler has interrupted a call of the holder in the middle of a change. */
INTERNAL bool intents_busy(const struct owner *o);
/* Returns the intent of this draft of the record, which is a DRAFT, or NULL. */
INTERNAL struct intent *intent_of_draft(struct owner *o, const void *p);
/* Ends the intent, which names nothing any more. */
INTERNAL void intent_end(struct intent *i);

/*
 * Changes the slot from `expected` to `fresh`, in one step.  `old` is the block that the caller must release
 * afterwards, by the tag, before the end of the intent, or 0.  Returns false and leaves the intent unchanged if the
 * slot has another value.  i is CLAIMED, or a DRAFT; if the intent names a block, that block is `fresh`.
 */
INTERNAL bool intent_change(struct heap *h, struct intent *i, uint64_t *slot, uint64_t expected,
			    uint64_t fresh, uint64_t old);

/* Returns the block that the slot names, or 0. */
INTERNAL uint64_t intent_read(struct heap *h, const uint64_t *slot);

/* Returns whether a word may be a slot, that is, lies in the region's chunks or is a slot of the heap itself. */
INTERNAL bool intent_may_change(const struct store *s, const struct region *r, uint64_t slot);

/* Sets the tag of a block.  Returns false if there is no block at p. */
INTERNAL bool intent_tag_block(struct heap *h, uint64_t p, uint64_t tag);

/* ---- for recovery (recover.h) ---- */

/* Returns the mark of the intent in this use. */
INTERNAL uint64_t intent_mark(const struct store *s, const struct intent *i);
/* Returns whether the block at p is taken, and only the intent that has this tag names it. */
INTERNAL bool intent_has_tag(struct heap *h, uint64_t p, uint16_t tag);
/* Completes a change that has happened: the mark is in the slot, or was. */
INTERNAL void intent_complete(struct intent *i, uint64_t *slot, uint64_t fresh, uint64_t mark);
/* Undoes a change that did not happen: only the intent names `fresh`, and is of this kind again. */
INTERNAL void intent_roll_back(struct heap *h, struct intent *i, uint64_t kind);

#endif

/* SPDX-License-Identifier: MIT */
/* Drafts: blocks that only an intent of the calling thread names; and tags of the program. */
#include "store/calls/draft.h"

#include "memory.h"
#include "store/allocator.h"
#include "store/recover/block_tags.h"
#include "store/recover/intent.h"

struct owner *draft_record(struct heap *h)
{
	struct owner *self = seats_self_guess(h);
	struct seats_call call;

	if (likely(self != NULL))
		return self;
	call = seats_enter(h);
	seats_exit(call);
	return call.self;
}

void *draft_make(struct heap *h, size_t size, bool zero, uint64_t tag, struct intent **i,
		 enum ash_slot *why)
{
	struct owner *self = draft_record(h);
	void *p;

	*why = ASH_SLOT_NO_RECORD;
	*i = self == NULL ? NULL : intent_claim(self);
	if (*i == NULL)
		return NULL;
	store_relaxed(&(*i)->tag, tag != 0 ? tag : census_mine(store_of(h), self));
	*why = ASH_SLOT_NO_MEMORY;
	p = instance_draft(h, size, zero, *i);
	if (p == NULL)
		intent_end(*i);
	return p;
}

void draft_drop(struct heap *h, struct intent *i, void *p)
{
	/* In this order, because the block has lost the intent's tag if the thread dies in between. */
	(void)instance_release_drafted(h, p);
	intent_end(i);
}

bool draft_own(struct heap *h, uint64_t *slot, size_t size)
{
	struct intent *i;
	enum ash_slot why;
	void *p;

	if (intent_read(h, slot) != 0)
		return true;
	p = draft_make(h, size, false, TAG_OWN, &i, &why);
	if (p == NULL)
		return false;
	memset(p, 0, size); /* also if p reads zero: a view may then read the whole block without a hole of the file */
	if (intent_change(h, i, slot, 0, (uint64_t)(uintptr_t)p, 0))
		intent_end(i);
	else
		draft_drop(h, i, p); /* another thread was faster */
	return true;
}

/* ---- tags of the program ---- */

/* Stores the program's tag in its place, and notes in *census that there is a tag. */
static bool tag_set(struct heap *h, void *p, unsigned char tag, uint64_t *census)
{
	struct slot_ref at;
	uint8_t *byte;

	*census |= TAG_KIND;
	if (!slot_find(map_find(p), p, &at)) {
		*census |= (uint64_t)tag << KIND_SHIFT;
		return true;
	}
	byte = draft_own(h, kinds_slot(at.slab), SLAB_SLOTS) ? kinds_byte(h, at.slab, at.index) : NULL;
	if (byte == NULL)
		return false;
	/* Pairs with kind_of by the census tag, which is stored later, by release. */
	store_relaxed(byte, tag);
	return true;
}

bool draft_carry(struct chunk *c, const void *p, void *moved)
{
	struct heap *h = chunk_heap(c);
	unsigned char tag = kind_at(c, p);
	uint64_t census;

	if (tag == 0)
		return true;
	census = census_mine(store_of(h), seats_self(h));
	if (!tag_set(h, moved, tag, &census))
		return false;
	(void)intent_tag_block(h, (uint64_t)(uintptr_t)moved, census);
	return true;
}

void *draft_tagged(struct heap *h, size_t size, unsigned char tag, struct intent **i)
{
	enum ash_slot why;
	uint64_t census;
	void *p = draft_make(h, size, false, 0, i, &why);

	if (p == NULL)
		return NULL;
	census = load_relaxed(&(*i)->tag);
	if (!tag_set(h, p, tag, &census)) {
		draft_drop(h, *i, p);
		return NULL;
	}
	store_relaxed(&(*i)->tag, census);
	return p;
}

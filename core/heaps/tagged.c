/* SPDX-License-Identifier: MIT */
/* Blocks with a tag of the program's. */
#include "heaps/tagged.h"

#include "backend/map.h"
#include "front/slot.h"
#include "heaps/instance.h"
#include "heaps/instance_publish.h"
#include "shm/block_tags.h"
#include "shm/intent.h"
#include "shm/seats.h"

/* Stores the program's tag where it belongs, and notes in *census that there is one. */
static bool tag_set(struct heap *h, void *p, unsigned char tag, uint64_t *census)
{
	struct slot_ref at;
	uint8_t *byte;

	*census |= TAG_KIND;
	if (!slot_find(map_find(p), p, &at)) {
		*census |= (uint64_t)tag << KIND_SHIFT;
		return true;
	}
	byte = publish_own(h, kinds_slot(at.slab), SLAB_SLOTS) ? kinds_byte(h, at.slab, at.index) : NULL;
	if (byte == NULL)
		return false;
	/* Pairs with kind_of by the census tag, which is stored after it, by release. */
	store_relaxed(byte, tag);
	return true;
}

bool tagged_carry(struct chunk *c, const void *p, void *moved)
{
	struct heap *h = c->region->heap;
	unsigned char tag = store_shared(h) != NULL ? kind_at(c, p) : 0;
	uint64_t census;

	if (tag == 0)
		return true;
	census = census_mine(store_of(h), seats_self(h));
	if (!tag_set(h, moved, tag, &census))
		return false;
	(void)intent_tag_block(h, (uint64_t)(uintptr_t)moved, census);
	return true;
}

/* As publish_draft, with a tag of the program's. */
static void *draft_with_tag(struct heap *h, size_t size, unsigned char tag, struct intent **i)
{
	enum ash_slot why;
	uint64_t census;
	void *p = publish_draft(h, size, false, 0, i, &why);

	if (p == NULL)
		return NULL;
	census = load_relaxed(&(*i)->tag);
	if (!tag_set(h, p, tag, &census)) {
		publish_drop(h, *i, p);
		return NULL;
	}
	store_relaxed(&(*i)->tag, census);
	return p;
}

void *ash_heap_draft_tagged(ash_heap *heap, size_t size, unsigned char tag)
{
	struct intent *i;
	void *p;

	if (tag == 0 || store_behind(heap) == NULL)
		return ash_heap_draft(heap, size);
	p = draft_with_tag(heap_of(heap), size, tag, &i);
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
	p = draft_with_tag(h, size, tag, &i);
	if (p == NULL)
		return NULL;
	/* The block is the intent's until its tag is that of the process. */
	(void)intent_tag_block(h, (uint64_t)(uintptr_t)p, load_relaxed(&i->tag));
	intent_end(i);
	return p;
}

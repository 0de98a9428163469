/* SPDX-License-Identifier: MIT */
#include "shm/block_tags.h"

#include "backend/region.h"
#include "diagnostics/blocks.h"
#include "front/slot.h"
#include "front/span.h"
#include "process.h"
#include "shm/census.h"
#include "shm/intent.h"
#include "slab/look.h"

bool kinds_block(struct heap *h, uint64_t p, size_t bytes)
{
	const void *block = (const void *)p; /* NOLINT: an address */
	struct chunk *c = region_find(h, block);
	struct slab *s;
	uint64_t index;

	if (c == NULL)
		return false;
	if (slab_find(c, block, &s))
		return look_at_slot(s, block, &index) >= bytes; /* others may release it meanwhile */
	return span_is(c, block) && load_relaxed(&c->span_bytes) >= bytes;
}

uint8_t *kinds_byte(struct heap *h, const struct slab *s, size_t index)
{
	uint64_t leaf = intent_read(h, kinds_slot(s));

	/* In a forged file it may be anything. */
	return kinds_block(h, leaf, SLAB_SLOTS) ? (uint8_t *)leaf + index : NULL; /* NOLINT: an address */
}

unsigned char kind_of(struct heap *h, const struct block_place *at)
{
	/* Pairs with intent_tag_block: the byte is no older than the flag. */
	uint64_t tag = at->slab != NULL ? load_acquire(census_tag(at->slab, at->index))
					: load_relaxed(&at->chunk->clean);
	const uint8_t *byte;

	if ((tag & TAG_INTENT) != TAG_KIND)
		return 0;
	if (at->slab == NULL)
		return (unsigned char)(tag >> KIND_SHIFT);
	byte = kinds_byte(h, at->slab, at->index);
	return byte == NULL ? 0 : load_relaxed(byte);
}

unsigned char kind_at(struct chunk *c, const void *p)
{
	struct block_place at = {.chunk = c};
	struct slot_ref slot;

	if (slot_find(c, p, &slot)) {
		at.slab = slot.slab;
		at.index = slot.index;
	}
	return kind_of(c->region->heap, &at);
}

/* ---- all blocks, and the process that allocated each ---- */

#define SEEN 64

/* One walk. */
struct visit {
	struct heap *heap;
	int (*see)(void *context, void *block, size_t size, const struct ash_heap_owner *owner);
	void *context;
	bool ask;		     /* also whether owners live           */
	struct ash_heap_owner owner; /* of the current block */
	/*
	 * The kernel is asked once a walk whether a process lives.  The answer is kept
	 * by life and not by tag, which may be reused meanwhile.
	 */
	struct seen {
		uint64_t life;
		bool live;
	} seen[SEEN];
};

static void visit_owner(struct visit *v, uint16_t tag)
{
	struct seen *seen = &v->seen[tag % SEEN];
	uint64_t life;

	v->owner = (struct ash_heap_owner){tag, 0, false, 0};
	if (tag == TAG_NONE || tag == TAG_UNKNOWN)
		return;
	if (!v->ask)
		return;
	life = load_acquire(&store_of(v->heap)->census[tag - 1]);
	v->owner.pid = (int)LIFE_ID(life);
	if (life == 0 || (life & CENSUS_OVER) != 0)
		return;
	if (seen->life != life)
		*seen = (struct seen){life, !census_is_over(store_of(v->heap), tag - 1u, life)};
	v->owner.live = seen->live;
}

static uint16_t tag_of(const struct chunk *c, const struct slab *s, size_t index)
{
	return s != NULL ? load_relaxed(census_tag(s, index)) : (uint16_t)load_relaxed(&c->clean);
}

/* True: a block of the heap's own, which the program has never seen. */
static bool block_is_own(const struct chunk *c, const struct slab *s, size_t index)
{
	return tag_of(c, s, index) == TAG_OWN;
}

uint64_t block_owner(const struct chunk *c, const struct slab *s, size_t index)
{
	uint16_t tag = tag_of(c, s, index);

	if ((tag & TAG_LEAVING) != 0)
		return intent_owner(store_of(load_relaxed(&c->region)->heap), tag);
	return tag & TAG_PROCESS;
}

static int visit_block(void *context, const struct block_place *at)
{
	struct visit *v = context;

	if (store_shared(v->heap) != NULL) {
		if (block_is_own(at->chunk, at->slab, at->index))
			return 0;
		visit_owner(v, (uint16_t)block_owner(at->chunk, at->slab, at->index));
		v->owner.tag = kind_of(v->heap, at);
	}
	return v->see(v->context, at->start, at->size, &v->owner);
}

int block_walk(struct heap *h, bool ask,
	       int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context)
{
	struct visit v = {.heap = h, .see = see, .context = context, .ask = ask};

	v.owner = (struct ash_heap_owner){1, (int)process_number(), true, 0};
	return blocks_walk(h, visit_block, &v);
}

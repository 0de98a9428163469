/* SPDX-License-Identifier: MIT */
/* From a pointer to the block it names: built for size, see Makefile. */
#include "ashlar.h"
#include "misuse.h"
#include "release.h"
#include "span.h"

bool place_find(const struct chunk *c, const void *p, struct place *at)
{
	if (unlikely(!slab_find(c, p, &at->slab)) ||
	    unlikely(!slab_index(at->slab, p, &at->index)))
		return false;
	at->group = (uint32_t)(at->index / GROUP_SLOTS);
	at->bit = (uint64_t)1 << (at->index % GROUP_SLOTS);
	return true;
}

bool place_is_taken(const struct place *at)
{
	uint64_t word = load_relaxed(&at->slab->free[at->group]);

	if ((load_relaxed(&at->slab->owner) & OWNER_SHARED) == 0)
		word |= load_relaxed(&at->slab->remote[at->group]);
	return (word & at->bit) == 0;
}

bool remote_free(const struct place *at, struct owner **vacant)
{
	struct slab *s = at->slab;
	uint64_t owner;

	*vacant = NULL;
	/*
	 * The block is ours until the next line, so the slab is what it seems.
	 * Ordered, as the load below: first the word, then the mark, as the owner
	 * clears first the mark and then reads the words (slab_collect).
	 */
	if ((load_acquire(&s->free[at->group]) & at->bit) != 0 ||
	    (fetch_or_ordered(&s->remote[at->group], at->bit) & at->bit) != 0)
		return false;
	/*
	 * From here on the slab may be collected, emptied, even made anew: what
	 * we do to it now are hints that hurt no other slab.
	 */
	owner = load_ordered(&s->owner);
	if ((owner & OWNER_PENDING) != 0)
		return true;
	owner = fetch_or_ordered(&s->owner, OWNER_PENDING);
	if (owner == 0 || (owner & (OWNER_PENDING | OWNER_SHARED)) != 0)
		return true;
	owner_notify(owner, s);
	if (unlikely(load_ordered(&((struct owner *)(uintptr_t)owner)->state) == OWNER_VACANT))
		*vacant = (struct owner *)(uintptr_t)owner;
	return true;
}

void ash_release_sized(void *p, size_t size)
{
	size_t have = block_bytes(CALL_RELEASE_SIZED, p);

	/*
	 * Aligned blocks may come from a larger class than their size alone
	 * would choose: only a size the block cannot hold is a lie for certain.
	 */
	if (p != NULL && size > have)
		misuse_size(p, have);
	ash_release(p);
}

size_t chunk_block(const struct chunk *c, const void *p)
{
	struct place at;

	if (unlikely(c == NULL))
		return 0;
	if (place_find(c, p, &at) && place_is_taken(&at))
		return at.slab->slot_size;
	return span_is(c, p) ? c->span_bytes : 0;
}

size_t block_bytes(enum call call, const void *p)
{
	struct chunk *c = map_find(p);
	size_t bytes;

	if (p == NULL)
		return 0;
	bytes = chunk_block(c, p);
	if (unlikely(bytes == 0) && heap_hooks != NULL)
		bytes = heap_hooks->bytes(p);
	if (unlikely(bytes == 0))
		misuse(call, p);
	return bytes;
}

size_t ash_usable_size(const void *p)
{
	return block_bytes(CALL_USABLE_SIZE, p);
}

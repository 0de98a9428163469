/* SPDX-License-Identifier: MIT */
/* From a pointer to the block it names: built for size, see Makefile. */
#include "front/diagnose.h"
#include "ashlar.h"
#include "base/misuse.h"
#include "front/quick.h"
#include "front/release.h"
#include "front/span.h"

static inline bool slot_find_in(struct slab *s, const void *p, struct slot_ref *at)
{
	at->slab = s;
	if (unlikely(!slab_index(s, p, &at->index)))
		return false;
	at->group = (uint32_t)(at->index / GROUP_SLOTS);
	at->bit = (uint64_t)1 << (at->index % GROUP_SLOTS);
	return true;
}

bool slot_find(const struct chunk *c, const void *p, struct slot_ref *at)
{
	/* Where no slab is, a chunk that has no slot (layout.h). */
	return slot_find_in(slab_record(c, p), p, at);
}

bool slot_is_taken(const struct slot_ref *at)
{
	uint64_t word = load_relaxed(&at->slab->free[at->group]);

	if ((load_relaxed(&at->slab->owner) & OWNER_UNOWNED) == 0)
		word |= load_relaxed(&at->slab->remote[at->group]);
	return (word & at->bit) == 0;
}

bool remote_free(const struct slot_ref *at, struct owner **vacant)
{
	uint64_t owner = load_relaxed(&at->slab->owner);

	*vacant = NULL;
	if (!remote_set(at->slab, at->index))
		return false;
	if (!remote_is_notified(at->slab, owner))
		*vacant = remote_notify(at->slab, at->group);
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
	struct slot_ref at;

	if (unlikely(c == NULL))
		return 0;
	if (slot_find(c, p, &at) && slot_is_taken(&at))
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
		diagnose(call, p);
	return bytes;
}

QUICK_FAST size_t ash_usable_size(const void *p)
{
	struct slab *s = NULL;
	struct slot_ref at;

	/* No remote word is looked at, as in ash_release: it stands on a page of its own. */
	if (QUICK && likely(own_slot(p, &s, &at.index)) &&
	    likely(((load_relaxed(&s->free[at.index / GROUP_SLOTS]) >> (at.index % GROUP_SLOTS)) &
		    1) == 0))
		return s->slot_size;
	if (likely(slab_is_of(s, p)) && slot_find_in(s, p, &at) && slot_is_taken(&at))
		return s->slot_size;
	return block_bytes(CALL_USABLE_SIZE, p);
}

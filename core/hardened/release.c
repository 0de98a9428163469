/* SPDX-License-Identifier: MIT */
/*
 * The releasing calls of the hardened product, in place of front/release.c.
 *
 *   ash_release(p)
 *     own_slot                the slab is the thread's own, and p starts a taken slot
 *     guard_size (guard.c)    the check word, the mark and the told size are right; otherwise misuse is reported
 *     guard_take              the word becomes 0, so that a second release is noticed, also of two threads at once
 *     zero_set (zero.c)       the block is cleared
 *     quarantine_exchange     the block waits (quarantine.c); another block may become free instead
 *     release_fast            the bit of that block is set, as in the other products (front/release.h)
 *   leaves this path to
 *     release_guarded_any     slabs of others, blocks above 32 KiB or of size 0, heaps in blocks
 *     release_unguarded       a pointer that is no guarded block: of another heap, NULL or misuse
 */
#include "hardened/release.h"

#include "ashlar.h"
#include "backend/map.h"
#include "backend/region.h"
#include "base/misuse.h"
#include "front/block.h"
#include "front/diagnose.h"
#include "front/release.h"
#include "front/remote.h"
#include "front/slot.h"
#include "hardened/guard.h"
#include "hardened/quarantine.h"
#include "hardened/zero.h"
#include "memory.h"
#include "pages.h"

/* Returns the size of a block, and compares the size that the caller told, if any. */
static ALWAYS_INLINE size_t size_checked(const char *call, const char *name, const void *p, size_t size, size_t have)
{
	size_t had = guard_size(call, name, p, have);

	if (size != SIZE_UNTOLD && unlikely(size != had))
		guard_report(call, name, p, "wrong size", had);
	return had;
}

SLOW bool release_guarded_any(const char *call, const char *name, void *p, size_t size)
{
	size_t have = guard_have(p), had;

	if (have == 0)
		return false;
	had = size_checked(call, name, p, size, have);
	if (unlikely(heap_hooks_now() != NULL))
		heap_hooks_now()->gone(p, have);
	/* A span in a region of its own is not cleared, because its pages go back to the system. */
	if (have != SLOT_MIN && (have <= SLOT_APART || region_alone(map_find(p)->region) == 0)) {
		guard_take(call, name, p, have);
		/* Purges a larger block, so that memory that was not written is not touched. */
		if (have <= SLOT_MAX)
			zero_set(p, had);
		else if (!pages_purge(p, have, PAGES_PRIVATE))
			memset(p, 0, have);
	}
	/* An empty block has no access, so no guard word tells that it waits: its bit must tell a second release. */
	if (have != SLOT_MIN && have <= SLOT_LARGE && seat.open != 0)
		p = quarantine_exchange(p, class_of(have));
	if (p != NULL)
		release_fast(p, release_rest);
	return true;
}

ALWAYS_INLINE bool release_guarded(const char *call, const char *name, void *p, size_t size)
{
	uint64_t index;
	struct slab *s;
	size_t had;

	if (unlikely(!own_slot(p, &s, &index)) ||
	    unlikely((load_relaxed(&s->free[index / GROUP_SLOTS]) >> index % GROUP_SLOTS & 1) != 0) ||
	    unlikely(s->class - 1u >= CLASS_ONE) || unlikely(heap_hooks_now() != NULL))
		return release_guarded_any(call, name, p, size);
	had = size_checked(call, name, p, size, s->slot_size);
	guard_take(call, name, p, s->slot_size);
	zero_set(p, had);
	p = quarantine_exchange(p, s->class);
	if (likely(p != NULL))
		release_fast(p, release_rest);
	return true;
}

SLOW void release_unguarded(const char *name, void *p)
{
	if (name != NULL)
		diagnose_called(name, p);
	release_rest(p, map_guess_slab(p));
}

SLOW void release_unguarded_told(const char *call, const char *name, void *p, size_t alignment, size_t size)
{
	if (name != NULL)
		diagnose_called(name, p);
	misuse_unless_fits(call, p, block_bytes(call, p), alignment, size);
	release_rest(p, map_guess_slab(p));
}

FAST void ash_release(void *p)
{
	if (!release_guarded(CALL_RELEASE, NULL, p, SIZE_UNTOLD))
		release_unguarded(NULL, p);
}

FAST void ash_release_sized(void *p, size_t size)
{
	if (!release_guarded(CALL_RELEASE_SIZED, NULL, p, size))
		release_unguarded_told(CALL_RELEASE_SIZED, NULL, p, 1, size);
}

FAST void ash_release_aligned_sized(void *p, size_t alignment, size_t size)
{
	if (!release_is_aligned(p, alignment) || !release_guarded_any(CALL_RELEASE_ALIGNED, NULL, p, size))
		release_unguarded_told(CALL_RELEASE_ALIGNED, NULL, p, alignment, size);
}

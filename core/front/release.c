/* SPDX-License-Identifier: MIT */
#include "front/release.h"

#include "ashlar.h"
#include "backend/map.h"
#include "base/misuse.h"
#include "front/block.h"
#include "front/remote.h"
#include "front/slot.h"

FAST void ash_release(void *p)
{
	release_fast(p, release_rest);
}

static SLOW void sized_rest(void *p, size_t size)
{
	misuse_unless_fits(CALL_RELEASE_SIZED, p, block_bytes(CALL_RELEASE_SIZED, p), 1, size);
	release_rest(p, map_guess_slab(p));
}

/* Reports a slot that is free already. */
static SLOW void sized_again(void *p, struct slab *s)
{
	(void)s;
	sized_rest(p, 0);
}

FAST void ash_release_sized(void *p, size_t size)
{
	uint64_t index;
	struct slab *s;

	if (unlikely(!own_slot(p, &s, &index)) || unlikely(cpu_is_above(size, &s->slot_size)))
		sized_rest(p, size);
	else
		release_bit(p, s, index, sized_again);
}

SLOW void release_aligned_rest(void *p, size_t alignment, size_t size)
{
	misuse_unless_fits(CALL_RELEASE_ALIGNED, p, block_bytes(CALL_RELEASE_ALIGNED, p), alignment, size);
	release_rest(p, map_guess_slab(p));
}

static SLOW void aligned_again(void *p, struct slab *s)
{
	(void)s;
	release_aligned_rest(p, 1, 0);
}

FAST void ash_release_aligned_sized(void *p, size_t alignment, size_t size)
{
	uint64_t index;
	struct slab *s;

	/* `alignment` is a power of two and divides p if neither of them has a bit in the mask. */
	if (unlikely(!own_slot(p, &s, &index)) || unlikely(size > s->slot_size) ||
	    unlikely((((uintptr_t)p | alignment) & (alignment - 1)) != 0))
		release_aligned_rest(p, alignment, size);
	else
		release_bit(p, s, index, aligned_again);
}
